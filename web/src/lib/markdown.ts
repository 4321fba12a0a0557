/**
 * Markdown, cut into tokens; `ui/chat/Tokens.tsx` makes elements of them, never HTML.
 *
 * HTML in a message is the text it is; links lead to the web or to mail only; images of other sites are links, so that
 * opening a conversation asks nobody for anything.
 */

import { Marked, type Token } from "marked";
import { EXTENSIONS } from "./extensions";

const READER = new Marked({ gfm: true, breaks: true, extensions: EXTENSIONS });

const SAFE_LINK = /^(https?:|mailto:)/i;
const SAFE_IMAGE = /^data:image\/(png|jpeg|gif|webp);base64,/i;
const ENTITY = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]\w{1,30});/gi;

export interface Block {
  key: number;
  token: Token;
  raw: string;
}

/** Cut a text into its blocks, so that while it grows only the last one has to be made again. */
export function blocksOf(text: string): Block[] {
  const tokens = READER.lexer(text);
  return tokens
    .filter((token) => token.type !== "space" && token.type !== "def")
    .map((token, key) => ({ key, token, raw: token.raw }));
}

/** Where a link may lead; null: nowhere. */
export function linkOf(href: string): string | null {
  const address = decode(href).trim();
  return SAFE_LINK.test(address) ? address : null;
}

/** A picture that is in the text itself; null: it would have to be fetched. */
export function imageOf(href: string): string | null {
  return SAFE_IMAGE.test(href) ? href : null;
}

let reader: HTMLTextAreaElement | null = null;

/** Read `&lt;` and the like. A text area takes entities and makes nothing but text of them. */
export function decode(text: string): string {
  return text.replace(ENTITY, (entity) => {
    reader ??= document.createElement("textarea");
    reader.innerHTML = entity;
    return reader.value;
  });
}
