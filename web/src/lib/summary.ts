/** A summary, cut into what can be pointed at: headings and lines. Sections that hold nothing are left out. */

import { Lexer, type Tokens } from "marked";

export type SummaryPiece = { kind: "heading" | "line" | "block"; text: string };

const NOTHING = /^[\s*_(-]*(none|nothing|n\/a)[\s*_).-]*$/i;

/** The words of a summary without the signs of Markdown: headings, bold and code are words as well. */
export const wordsOf = (summary: string): string =>
  summary
    .replace(/^#{1,6} +/gm, "")
    .replace(/^[-*+] +/gm, "• ")
    .replace(/(\*\*|__)(?=\S)(.+?)\1/g, "$2")
    .replace(/`([^`\n]+)`/g, "$1");

export function piecesOf(summary: string): SummaryPiece[] {
  const pieces = Lexer.lex(summary, { gfm: true }).flatMap((token): SummaryPiece[] => {
    switch (token.type) {
      case "space":
      case "def":
        return [];
      case "heading":
        return [{ kind: "heading", text: (token as Tokens.Heading).text }];
      case "list":
        return (token as Tokens.List).items.map((item) => ({ kind: "line" as const, text: item.text }));
      case "paragraph":
        return [{ kind: "block", text: token.raw.trim() }];
      default:
        return [{ kind: "block", text: token.raw }];
    }
  });
  const said = pieces.filter((piece) => piece.kind === "heading" || !NOTHING.test(piece.text));
  // A heading that is followed by another one, or by nothing, has nothing below it.
  return said.filter((piece, at) => piece.kind !== "heading" || (said[at + 1]?.kind ?? "heading") !== "heading");
}
