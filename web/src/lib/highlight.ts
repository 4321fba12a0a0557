/**
 * A small highlighter: comments, strings, numbers and the words most languages share.
 *
 * It knows no grammar, so it is never badly wrong; what it does not know stays plain.
 */

const WORDS = new Set(
  (
    "abstract and as assert async await break case catch class const continue def default defer del do elif else end " +
    "enum except export extends extern false final finally fn for foreach from func function go if impl implements " +
    "import in include instanceof interface is lambda let local loop match mod module mut namespace new nil None not " +
    "null or override package pass private protected pub public raise readonly ref return select self static struct " +
    "super switch template then this throw trait true True False try type typedef typeof undefined union unsafe use " +
    "using var virtual void when where while with yield SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE " +
    "TABLE INDEX JOIN LEFT RIGHT INNER ON GROUP BY ORDER HAVING LIMIT AND OR NOT NULL AS DISTINCT UNION PRIMARY KEY"
  ).split(" "),
);
const HASH = new Set(["python", "py", "sh", "bash", "shell", "zsh", "ruby", "rb", "yaml", "yml", "toml", "perl", "r", "make", "makefile", "dockerfile", "ini", "nix", "elixir"]);
const DASHES = new Set(["sql", "lua", "haskell", "hs", "ada", "elm"]);
const PLAIN = new Set(["", "text", "txt", "plain", "plaintext", "output", "console", "log", "markdown", "md"]);
const LONGEST = 50_000;
/** Characters of code beyond which nothing is coloured: a log, not a listing. */

/** A piece of code and what it is; empty: nothing special. */
export type Piece = [kind: string, text: string];

function pattern(language: string): RegExp {
  const line = HASH.has(language) ? "#[^\\n]*" : DASHES.has(language) ? "--[^\\n]*" : "\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)";
  const string = "\"\"\"[\\s\\S]*?(?:\"\"\"|$)|\"(?:\\\\.|[^\"\\\\\\n])*\"?|'(?:\\\\.|[^'\\\\\\n])*'?|`(?:\\\\.|[^`\\\\])*`?";
  return new RegExp(`(?<comment>${line})|(?<string>${string})|(?<number>\\b\\d[\\w.]*)|(?<word>[A-Za-z_]\\w*)`, "g");
}

/** Cut code into pieces; together they are the code. */
export function highlight(code: string, language: string): Piece[] {
  const name = language.toLowerCase();
  if (PLAIN.has(name) || code.length > LONGEST) return [["", code]];
  if (name === "diff") return code.split(/(?<=\n)/).map(diffLine);
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of code.matchAll(pattern(name))) {
    const kind = kindOf(found, code);
    if (!kind) continue;
    pieces.push(["", code.slice(at, found.index)], [kind, found[0]]);
    at = found.index + found[0].length;
  }
  return [...pieces, ["", code.slice(at)]];
}

function kindOf(found: RegExpExecArray, code: string): string {
  const { comment, string, number, word } = found.groups ?? {};
  if (comment) return "comment";
  if (string) return "string";
  if (number) return "number";
  if (word && WORDS.has(word)) return "word";
  return code[found.index + found[0].length] === "(" ? "call" : "";
}

function diffLine(line: string): Piece {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@") ? "comment" : "";
  return [kind, line];
}
