/** What was sent without a connection, one turn for each conversation: kept by this browser, so that a reload loses nothing. */

interface Waiting {
  turn: object;
  /** What is on screen of it. */
  shown: string | null;
}

const KEY = (id: string) => `octavo.waiting.${id}`;
/** As long as the page is open, also where the browser has no room for it. */
const held = new Map<string, Waiting>();

export function readWaiting(id: string): Waiting | null {
  const stored = localStorage.getItem(KEY(id));
  return held.get(id) ?? (stored ? (JSON.parse(stored) as Waiting) : null);
}

export function keepWaiting(id: string, turn: Waiting): void {
  held.set(id, turn);
  try {
    localStorage.setItem(KEY(id), JSON.stringify(turn));
  } catch {
    // Too large, such as a picture: then it is kept until the page is left.
  }
}

export function forgetWaiting(id: string): void {
  held.delete(id);
  localStorage.removeItem(KEY(id));
}
