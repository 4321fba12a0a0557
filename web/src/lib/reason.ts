/** Why the server refused something, and which field it means: it names that first, as in `body.soft: …`. */

export interface Reason {
  field: string | null;
  text: string;
}

const NAMED = /^(?:(?:body|models)\.(?:.*?\.)?)?([a-z_]+)(?:\.\d+)?: (.+)$/s;

export function reasonOf(message: string): Reason {
  const found = NAMED.exec(message);
  return { field: found?.[1] ?? null, text: found?.[2] ?? message };
}
