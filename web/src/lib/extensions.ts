/** What people write in Markdown beyond its standard: formulas and footnotes. Money is no formula. */

import type { TokenizerExtension } from "marked";

const BLOCK = /^(?:\$\$([^$]{1,4000})\$\$|\\\[((?:[^\\]|\\(?!\])){1,4000})\\\])[ \t]*(?:\n|$)/;
const INLINE = /^(?:\$\$([^$\n]{1,2000})\$\$|\\\(((?:[^\\\n]|\\(?!\))){1,2000})\\\))/;
const DOLLARS = /^\$([^\s$`](?:[^$\n`]{0,500}[^\s$`\\])?)\$(?![\d\p{L}])/u;
const MATHS = /[\\^_=+<>*/]|^\p{L}'?$|^\p{L}\(.*\)$/u;
/** Between two dollar signs: a sign of mathematics, a single variable, or a function. */
const SIGN = /^\[\^([^\]\s]{1,40})\](?!:)/;
const NOTE = /^ {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*([^\n]+(?:\n(?! {0,3}\[\^)[ \t]*[^\s][^\n]*)*)(?:\n|$)/;

/** Where something may begin; undefined: nowhere. */
const at = (place: number): number | undefined => (place < 0 ? undefined : place);

export const EXTENSIONS: TokenizerExtension[] = [
  {
    name: "formulaBlock",
    level: "block",
    start: (text) => at(text.search(/^(?:\$\$|\\\[)/m)),
    tokenizer(text) {
      const found = BLOCK.exec(text);
      if (!found) return undefined;
      return { type: "formulaBlock", raw: found[0], text: (found[1] ?? found[2] ?? "").trim() };
    },
  },
  {
    name: "formula",
    level: "inline",
    start: (text) => at(text.search(/\$|\\\(/)),
    tokenizer(text) {
      const found = INLINE.exec(text);
      if (found) return { type: "formula", raw: found[0], text: found[1] ?? found[2] ?? "", display: found[1] !== undefined };
      const dollars = DOLLARS.exec(text);
      const inner = dollars?.[1] ?? "";
      return dollars && MATHS.test(inner) ? { type: "formula", raw: dollars[0], text: inner, display: false } : undefined;
    },
  },
  {
    name: "footnoteSign",
    level: "inline",
    start: (text) => at(text.indexOf("[^")),
    tokenizer(text) {
      const found = SIGN.exec(text);
      return found ? { type: "footnoteSign", raw: found[0], label: found[1] } : undefined;
    },
  },
  {
    name: "footnote",
    level: "block",
    start: (text) => at(text.search(/^ {0,3}\[\^[^\]\s]{1,40}\]:/m)),
    tokenizer(text) {
      const found = NOTE.exec(text);
      if (!found) return undefined;
      return { type: "footnote", raw: found[0], label: found[1], tokens: this.lexer.inlineTokens(found[2] ?? "") };
    },
  },
];
