/**
 * Markdown as elements.
 *
 * React writes every word as text, and there is an element for each kind of token here and for nothing else: no word of
 * a message can become anything but a word.
 */

import { useCopied } from "../kit/useCopied";
import type { ReactNode } from "react";
import type { Token, Tokens as Kinds } from "marked";
import { decode, imageOf, linkOf } from "../../lib/markdown";
import { CodeBlock } from "./CodeBlock";
import { Footnote, FootnoteSign } from "./Footnote";
import { Formula } from "./Formula";

export function Tokens({ of }: { of: Token[] | undefined }) {
  return of?.map((token, index) => <OneToken key={index} token={token as Kinds.Generic} />);
}

function OneToken({ token }: { token: Kinds.Generic }): ReactNode {
  const inner = <Tokens of={token.tokens} />;
  switch (token.type) {
    case "paragraph":
      return <p>{inner}</p>;
    case "text":
      return token.tokens ? inner : decode(token.text);
    case "strong":
      return <strong>{inner}</strong>;
    case "em":
      return <em>{inner}</em>;
    case "del":
      return <del>{inner}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "code":
      return <CodeBlock code={token.text} language={token.lang ?? ""} />;
    case "br":
      return <br />;
    case "heading": {
      const Heading = `h${token.depth}` as "h1";
      return <Heading>{inner}</Heading>;
    }
    case "list":
      return <List list={token as Kinds.List} />;
    case "blockquote":
      return <blockquote>{inner}</blockquote>;
    case "hr":
      return <hr />;
    case "table":
      return <Table table={token as Kinds.Table} />;
    case "link":
      return <Link href={token.href}>{inner}</Link>;
    case "image":
      return <Picture href={token.href} text={decode(token.text) || "image"} />;
    case "formulaBlock":
      return <Formula source={token.text} raw={token.raw} display />;
    case "formula":
      return <Formula source={token.text} raw={token.raw} display={token["display"]} />;
    case "footnoteSign":
      return <FootnoteSign label={token["label"]} />;
    case "footnote":
      return <Footnote label={token["label"]}>{inner}</Footnote>;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "space":
    case "def":
      return null;
    default:
      return token.text ?? token.raw;
  }
}

function List({ list }: { list: Kinds.List }) {
  const items = list.items.map((item, index) => (
    <li key={index}>
      <Tokens of={item.tokens} />
    </li>
  ));
  return list.ordered ? <ol start={list.start || 1}>{items}</ol> : <ul>{items}</ul>;
}

/** Cells as a spreadsheet takes them. */
const asText = ({ header, rows }: Kinds.Table): string =>
  [header, ...rows].map((row) => row.map((cell) => cell.text.replace(/\s+/g, " ")).join("\t")).join("\n");

const SHORT = 12;
/** Characters of a cell that is never broken: a number, a name. */
const LONG = 24;
/** Characters of a cell that needs the width of a few words. */

function Table({ table }: { table: Kinds.Table }) {
  const [copied, copy] = useCopied(() => asText(table));
  const look = (cell: Kinds.TableCell) =>
    [cell.text.length <= SHORT ? "short" : cell.text.length > LONG && "long", cell.align && `at-${cell.align}`]
      .filter(Boolean)
      .join(" ") || undefined;
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <button type="button" className="table-copy" onClick={copy}>
        {copied ? "Copied" : "Copy"}
      </button>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} className={look(cell)}>
                <Tokens of={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} className={look(cell)}>
                  <Tokens of={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  const address = linkOf(href);
  if (!address) return children;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Picture({ href, text }: { href: string; text: string }) {
  const source = imageOf(href);
  return source ? <img src={source} alt={text} /> : <Link href={href}>[{text}]</Link>;
}
