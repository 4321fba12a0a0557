/** What is typed to the page and not to the model. */

const COMPRESS = /^\s*\/(?:compress|compact|summari[sz]e)(?:\s+([\s\S]*))?$/i;

/** The focus of `/compress [focus]`, `/compact` or `/summarize`; null when the text is something else. */
export function compressCommand(text: string): string | null {
  const found = COMPRESS.exec(text);
  return found ? (found[1] ?? "").trim() : null;
}
