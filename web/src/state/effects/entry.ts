/** Entries of inputs: what was typed, pasted and attached, in the state and in the browser's own storage. */

import { readDraft } from "../../lib/drafts";
import { keepExtras, readExtras } from "../../lib/entries";
import { NO_EXTRAS, type Entry } from "../../lib/entry";
import { dispatch, state } from "../store";
import { setDraft } from "./drafts";

export function readEntry(key: string): Entry {
  const { drafts, extras } = state();
  const text = drafts[key] ?? readDraft(key);
  return { text, ...(extras[key] ?? readExtras(key) ?? NO_EXTRAS) };
}

export function setEntry(key: string, change: Partial<Entry>): void {
  const before = readEntry(key);
  const { text, ...extras } = { ...before, ...change };
  if (extras.pastes !== before.pastes || extras.files !== before.files) {
    dispatch({ type: "draft/extras", key, extras });
    keepExtras(key, extras);
  }
  setDraft(key, text);
}

export const clearEntry = (key: string): void => setEntry(key, { text: "", ...NO_EXTRAS });
