/** Two texts next to each other, from the difference the server tells: which lines went, which came. */

export interface Line {
  text: string;
  changed: boolean;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function sidesOf(left: string, right: string, diff: string): [Line[], Line[]] {
  const gone = new Set<number>();
  const come = new Set<number>();
  let [at, to] = [0, 0];
  // The first two lines name the versions.
  for (const line of diff.split("\n").slice(2)) {
    const hunk = HUNK.exec(line);
    if (hunk) [at, to] = [Number(hunk[1]), Number(hunk[2])];
    else if (line.startsWith("-")) gone.add(at++);
    else if (line.startsWith("+")) come.add(to++);
    else [at, to] = [at + 1, to + 1];
  }
  return [marked(left, gone), marked(right, come)];
}

const marked = (text: string, changed: Set<number>): Line[] =>
  text ? text.split("\n").map((line, index) => ({ text: line, changed: changed.has(index + 1) })) : [];
