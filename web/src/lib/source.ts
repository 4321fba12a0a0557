/** From words seen on screen to the words of the message: Markdown's own signs are not on screen. */

const LONGEST = 2_000;
/** Words beyond which only an exact match is looked for. */
const BETWEEN = "[^\\p{L}\\p{N}]{0,40}?";

/** The part of a text that was shown as `selected`; null when it cannot be told. */
export function sourceOf(text: string, selected: string): string | null {
  const wanted = selected.trim();
  if (!wanted) return null;
  if (text.includes(wanted)) return wanted;
  const words = wanted.match(/[\p{L}\p{N}]+/gu);
  if (!words || words.length > LONGEST) return null;
  return new RegExp(words.join(BETWEEN), "u").exec(text)?.[0] ?? null;
}
