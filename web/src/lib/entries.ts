/** Long pastes and files of drafts, and what was sent before, kept by this browser. */

import type { Extras } from "./entry";
import { expanded, kept, type Draft } from "./longtext";

const EXTRAS = (key: string) => `octavo.extras.${key}`;
const SENT = "octavo.sent";
const MOST = 50;
/** Entries that are remembered. */
const LARGEST = 1_000_000;
/** Characters of what was sent: the browser gives a page about five million in all. */

/** What does not fit is not kept: better than an input that cannot be used. */
function keep(key: string, text: string): void {
  try {
    if (text) localStorage.setItem(key, text);
    else localStorage.removeItem(key);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    localStorage.removeItem(key);
  }
}

function read<T>(key: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") as T | null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

export const readExtras = (key: string): Extras | null => read<Extras>(EXTRAS(key));

export function keepExtras(key: string, extras: Extras): void {
  const empty = extras.files.length === 0 && Object.keys(extras.pastes).length === 0;
  keep(EXTRAS(key), empty ? "" : JSON.stringify(extras));
}

/** What was sent, the newest last. */
export const readSent = (): Draft[] => read<Draft[]>(SENT) ?? [];

export function remember(draft: Draft): void {
  const entry = { text: draft.text, pastes: kept(draft) };
  if (!entry.text.trim()) return;
  const last = JSON.stringify(entry);
  const sent = [...readSent().filter((one) => JSON.stringify(one) !== last), entry].slice(-MOST);
  while (sent.length > 0 && JSON.stringify(sent).length > LARGEST) sent.shift();
  keep(SENT, JSON.stringify(sent));
}

/** The entry a message was sent as, with its placeholders; else the message as it is. */
export function entryOf(text: string): Draft {
  return readSent().findLast((one) => expanded(one) === text) ?? { text, pastes: {} };
}
