/** What changed from one text to another, word by word. */

export interface Piece {
  kind: "same" | "gone" | "come";
  text: string;
}

const MOST = 6_000_000;
/** Pairs of words that are compared: more would be felt. Longer texts are shown as gone and come as a whole. */
const WORDS = /^\s+|\S+\s*/g;

export function wordDiff(before: string, after: string): Piece[] {
  const one = before.match(WORDS) ?? [];
  const other = after.match(WORDS) ?? [];
  let head = 0;
  while (head < one.length && head < other.length && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < one.length - head && tail < other.length - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  const middle = changes(one.slice(head, one.length - tail), other.slice(head, other.length - tail));
  return joined([
    ...one.slice(0, head).map(same),
    ...middle,
    ...(tail > 0 ? one.slice(-tail).map(same) : []),
  ]);
}

const same = (text: string): Piece => ({ kind: "same", text });

/** The longest common words, by the table everybody knows. */
function changes(one: string[], other: string[]): Piece[] {
  const width = other.length + 1;
  if (one.length * other.length > MOST)
    return [
      { kind: "gone", text: one.join("") },
      { kind: "come", text: other.join("") },
    ];
  const longest = new Uint16Array((one.length + 1) * width);
  for (let a = one.length - 1; a >= 0; a -= 1)
    for (let b = other.length - 1; b >= 0; b -= 1)
      longest[a * width + b] =
        one[a] === other[b]
          ? longest[(a + 1) * width + b + 1]! + 1
          : Math.max(longest[(a + 1) * width + b]!, longest[a * width + b + 1]!);
  const pieces: Piece[] = [];
  let [a, b] = [0, 0];
  while (a < one.length || b < other.length)
    if (a < one.length && b < other.length && one[a] === other[b]) {
      pieces.push(same(one[a]!));
      a += 1;
      b += 1;
    } else if (b === other.length || (a < one.length && longest[(a + 1) * width + b]! >= longest[a * width + b + 1]!)) {
      pieces.push({ kind: "gone", text: one[a]! });
      a += 1;
    } else {
      pieces.push({ kind: "come", text: other[b]! });
      b += 1;
    }
  return pieces;
}

/** Neighbours of one kind are one piece. */
function joined(pieces: Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (last?.kind === piece.kind) last.text += piece.text;
    else if (piece.text) out.push({ ...piece });
  }
  return out;
}
