/**
 * Long pastes as placeholders: `[LongText#1]` in the input, the whole text in the message.
 *
 * The rules of `octavo.core.longtext` and of the terminal's chat. Whatever a key does, a placeholder is there whole or
 * not at all, and the cursor never stands inside one.
 */

export const INLINE = 200;
/** Characters that are still pasted as they are. */

export type Pastes = Readonly<Record<number, string>>;
export const NOTHING: Pastes = {};

export interface Draft {
  text: string;
  pastes: Pastes;
}

const LABEL = /\[LongText#([1-9][0-9]{0,8})\]/g;

export const label = (number: number): string => `[LongText#${number}]`;

export function isLong(text: string): boolean {
  // Characters, not the pairs some of them are stored as; spreading a whole book only to count it would be a waste.
  return text.length > 2 * INLINE || [...text].length > INLINE;
}

/** The message as it will be sent: looks at the text once, so a pasted text comes out as it went in. */
export function expanded({ text, pastes }: Draft): string {
  return text.replace(LABEL, (whole, number) => pastes[Number(number)] ?? whole);
}

export function nextNumber({ text, pastes }: Draft): number {
  const used = [...text.matchAll(LABEL)].map((found) => Number(found[1]));
  return 1 + Math.max(0, ...used, ...Object.keys(pastes).map(Number));
}

export interface Span {
  start: number;
  stop: number;
  number: number;
}

/** Find the placeholders that stand for something. */
export function spans({ text, pastes }: Draft): Span[] {
  return [...text.matchAll(LABEL)]
    .map((found) => ({ start: found.index, stop: found.index + found[0].length, number: Number(found[1]) }))
    .filter((span) => span.number in pastes);
}

/** Only the pastes whose placeholders are there. */
export function kept(draft: Draft): Pastes {
  return Object.fromEntries(spans(draft).map(({ number }) => [number, draft.pastes[number]!]));
}

/** Delete a stretch; placeholders that it touches go as a whole. */
export function cut(draft: Draft, start: number, stop: number): { text: string; at: number } {
  for (const span of spans(draft))
    if (span.start < stop && start < span.stop) {
      start = Math.min(start, span.start);
      stop = Math.max(stop, span.stop);
    }
  return { text: draft.text.slice(0, start) + draft.text.slice(stop), at: start };
}

/**
 * Read what an edit did to a draft; a placeholder that it touched is gone as a whole.
 *
 * The cursor, where the edit left it, tells which of two equal characters was deleted.
 */
export function mend(before: Draft, text: string, cursor: number): { text: string; at: number } {
  const most = Math.min(before.text.length, text.length);
  const after = commonEnd(before.text, text, Math.min(most, text.length - cursor));
  const front = commonStart(before.text, text, most - after);
  const stop = before.text.length - after;
  const left = front < stop ? cut(before, front, stop) : { text: before.text, at: front };
  const at = outside({ ...before, text: left.text }, left.at);
  const added = text.slice(front, text.length - after);
  return { text: left.text.slice(0, at) + added + left.text.slice(at), at: at + added.length };
}

function commonStart(one: string, other: string, most: number): number {
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}

function commonEnd(one: string, other: string, most: number): number {
  let length = 0;
  while (length < most && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}

/** Move a cursor that came from `before` out of a placeholder, onwards in its direction. */
export function outside(draft: Draft, at: number, before = 0): number {
  const inside = spans(draft).find(({ start, stop }) => start < at && at < stop);
  return inside ? (before > at ? inside.start : inside.stop) : at;
}
