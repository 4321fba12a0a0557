/** The facts of one kind: those that were left out first, since those matter. */

import { useState } from "react";
import type { Receipt, Snapshot } from "../../api/types";
import { count } from "../../lib/format";
import { addBack } from "../../state/effects/snapshots";
import { SourceLink } from "./SourceLink";

type Tally = Receipt["facts"][number];

export function FactList({ tally, snapshot, conversation }: { tally: Tally; snapshot: Snapshot; conversation: string }) {
  const [busy, setBusy] = useState(false);
  const restore = async (item: string) => {
    setBusy(true);
    await addBack(conversation, snapshot, item);
    setBusy(false);
  };
  return (
    <div className="fact-lists" tabIndex={0} role="group" aria-label="Facts">
      {tally.lost_count > 0 && (
        <>
          <h3>Left out: stored, but no longer seen by the model</h3>
          <ul>
            {tally.lost.map((fact) => (
              <li key={fact.text}>
                <bdi className="mono">{fact.text}</bdi>
                <button type="button" className="link" disabled={busy} onClick={() => void restore(fact.text)}>
                  Add back
                </button>
                <SourceLink conversation={conversation} message={fact.message} />
              </li>
            ))}
            <More listed={tally.lost.length} of={tally.lost_count} />
          </ul>
        </>
      )}
      <Texts title="Kept word for word" texts={tally.verbatim} of={tally.verbatim_count} />
      <Texts title="Retold" texts={tally.told} of={tally.told_count} />
    </div>
  );
}

function More({ listed, of }: { listed: number; of: number }) {
  if (of <= listed) return null;
  return (
    <li className="fact-more">
      {listed > 0 ? "… and " : ""}
      {count(of - listed)} {listed > 0 ? "more" : "that are not listed"}
    </li>
  );
}

function Texts({ title, texts, of }: { title: string; texts: string[]; of: number }) {
  if (of === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="fact-words">
        {texts.map((text) => (
          <li key={text}>
            <bdi className="mono">{text}</bdi>
          </li>
        ))}
        <More listed={texts.length} of={of} />
      </ul>
    </>
  );
}
