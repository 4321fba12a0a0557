/** What was typed and not sent, kept by this browser for each conversation; `new` is the one not made yet. */

const KEY = (id: string) => `octavo.draft.${id}`;

export function readDraft(id: string): string {
  return localStorage.getItem(KEY(id)) ?? "";
}

export function keepDraft(id: string, text: string): void {
  if (text) localStorage.setItem(KEY(id), text);
  else localStorage.removeItem(KEY(id));
}

