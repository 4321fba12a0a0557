/** Two versions side by side; what only one of them says is marked. */

import { useEffect, useState } from "react";
import { sidesOf, type Line } from "../../lib/sides";
import { compare } from "../../state/effects/snapshots";
import type { SnapshotRead } from "../../state/compression";

type Compared = NonNullable<Awaited<ReturnType<typeof compare>>>;

export function Comparison({ id, left, right }: { id: string; left: string; right: string }) {
  const [found, setFound] = useState<Compared | null>(null);
  useEffect(() => {
    let current = true;
    void compare(id, left, right).then((told) => current && setFound(told));
    return () => {
      current = false;
    };
  }, [id, left, right]);
  if (!found) return <p className="compression-note">Comparing…</p>;
  const [one, other] = sidesOf(found.left.full.summary, found.right.full.summary, found.diff);
  return (
    <div className="sides">
      <Side read={found.left} lines={[...one, ...extracts(found.left, found.right)]} sign="del" />
      <Side read={found.right} lines={[...other, ...extracts(found.right, found.left)]} sign="ins" />
    </div>
  );
}

/** The exact lines are sets: one is changed if the other side does not have it. */
function extracts(of: SnapshotRead, other: SnapshotRead): Line[] {
  const there = new Set(other.full.extracts.map((one) => one.text));
  return of.full.extracts.map(({ text }) => ({ text, changed: !there.has(text) }));
}

function Side({ read, lines, sign: Sign }: { read: SnapshotRead; lines: Line[]; sign: "del" | "ins" }) {
  const name = `Version ${read.full.version}, ${read.full.kind}`;
  return (
    <section aria-label={name} tabIndex={0}>
      <h3>{name}</h3>
      {lines.map((line, index) => (
        <p key={index} className="side-line" dir="auto">
          {line.changed ? <Sign>{line.text}</Sign> : line.text}
        </p>
      ))}
    </section>
  );
}
