/** What the model no longer sees: a chip for each fact, which leads to its source, and brings it back. */

import { useState } from "react";
import type { Receipt, Snapshot } from "../../api/types";
import { count } from "../../lib/format";
import { addBack, showSource } from "../../state/effects/snapshots";
import { Icon } from "../kit/Icon";

const FIRST = 8;
/** Chips shown at once: a line or two. */
const ANYWHERE = -1;

export function LostChips({ receipt, snapshot, conversation }: { receipt: Receipt | null; snapshot: Snapshot; conversation: string }) {
  const [all, setAll] = useState(false);
  const [busy, setBusy] = useState(false);
  const lost = receipt?.facts.flatMap((tally) => tally.lost) ?? [];
  if (lost.length === 0) return null;
  // A long receipt lists the first facts of each kind, and counts all.
  const unlisted = (receipt?.facts.reduce((sum, tally) => sum + tally.lost_count, 0) ?? 0) - lost.length;
  const restore = async (item: string) => {
    setBusy(true);
    await addBack(conversation, snapshot, item);
    setBusy(false);
  };
  return (
    <ul className="lost-chips" aria-label="No longer seen">
      {(all ? lost : lost.slice(0, FIRST)).map((fact) => (
        <li key={fact.text} className="lost-chip">
          <button
            type="button"
            className="lost-text"
            title={`${fact.text}: show where it was said`}
            onClick={() => showSource(conversation, fact.message, ANYWHERE)}
          >
            <bdi>{fact.text}</bdi>
          </button>
          <button
            type="button"
            className="lost-back"
            aria-label={`Add back ${fact.text}`}
            disabled={busy}
            onClick={() => void restore(fact.text)}
          >
            <Icon name="plus" />
            <span>add back</span>
          </button>
        </li>
      ))}
      {unlisted > 0 && (all || lost.length <= FIRST) && (
        <li className="compression-note">and {count(unlisted)} that are not listed</li>
      )}
      {lost.length > FIRST && (
        <li>
          <button type="button" className="link" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? "fewer" : `${count(lost.length - FIRST + unlisted)} more`}
          </button>
        </li>
      )}
    </ul>
  );
}
