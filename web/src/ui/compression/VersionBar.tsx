/** The versions of a compression, ‹ 2/3 ›, as messages have them: look at another one, see what differs, use it. */

import { useEffect, useState } from "react";
import type { Snapshot } from "../../api/types";
import { when } from "../../lib/format";
import { wordsOf } from "../../lib/summary";
import { wordDiff } from "../../lib/worddiff";
import { chooseCompression, readSnapshot } from "../../state/effects/snapshots";
import type { Chat } from "../../state/types";
import { Icon } from "../kit/Icon";

const KINDS: Record<Snapshot["kind"], string> = {
  auto: "made automatically",
  manual: "asked for",
  edited: "edited by hand",
  regenerated: "written again",
};

interface Props {
  versions: Snapshot[];
  viewed: Snapshot;
  serving: Snapshot;
  view: (snapshot: Snapshot) => void;
  chat: Chat;
}

export function VersionBar({ versions, viewed, serving, view, chat }: Props) {
  const [compared, compare] = useState(false);
  const at = versions.findIndex((one) => one.id === viewed.id);
  const used = viewed.id === serving.id;
  // One is compared with the one in use; the one in use with the one before it.
  const other = used ? versions[at - 1] : serving;
  if (versions.length < 2) return null;
  return (
    <>
      <div className="version-bar">
        <div className="versions" role="group" aria-label="Versions of the summary">
          <Step name="Previous version" icon="left" to={versions[at - 1]} view={view} />
          <span>
            {at + 1}/{versions.length}
          </span>
          <Step name="Next version" icon="right" to={versions[at + 1]} view={view} />
        </div>
        <span className="compression-note" role="status">
          {KINDS[viewed.kind]}, {when(viewed.created)}
          {used ? ", in use" : viewed.state === "undone" ? ", undone" : ""}
        </span>
        {other && (
          <button type="button" className="link" aria-expanded={compared} onClick={() => compare(!compared)}>
            {used ? "what it changed" : "differences from the one in use"}
          </button>
        )}
        {!used && (
          <button type="button" className="button small" onClick={() => void chooseCompression(chat.id, viewed)}>
            Use this version
          </button>
        )}
      </div>
      {compared && other && <Differences chat={chat} from={other} to={viewed} />}
    </>
  );
}

function Step({ name, icon, to, view }: { name: string; icon: "left" | "right"; to: Snapshot | undefined; view: Props["view"] }) {
  return (
    <button type="button" className="icon-button" aria-label={name} disabled={!to} onClick={() => to && view(to)}>
      <Icon name={icon} />
    </button>
  );
}

function Differences({ chat, from, to }: { chat: Chat; from: Snapshot; to: Snapshot }) {
  const [one, other] = [chat.compression.read[from.id], chat.compression.read[to.id]];
  useEffect(() => {
    void readSnapshot(chat.id, from.id);
    void readSnapshot(chat.id, to.id);
  }, [chat.id, from.id, to.id]);
  if (!one || !other) return <p className="compression-note">Comparing…</p>;
  const pieces = [
    ...wordDiff(wordsOf(one.full.summary), wordsOf(other.full.summary)),
    ...lines(one.full.extracts, other.full.extracts, "gone"),
    ...lines(other.full.extracts, one.full.extracts, "come"),
  ];
  if (pieces.every((piece) => piece.kind === "same")) return <p className="compression-note">Both say the same.</p>;
  return (
    <div className="differences" role="group" aria-label="Differences" tabIndex={0} dir="auto">
      {pieces.map((piece, index) =>
        piece.kind === "same" ? (
          <span key={index}>{piece.text}</span>
        ) : piece.kind === "gone" ? (
          <del key={index}>{piece.text}</del>
        ) : (
          <ins key={index}>{piece.text}</ins>
        ),
      )}
    </div>
  );
}

/** Exact lines that only one of the two has. */
function lines(of: { text: string }[], other: { text: string }[], kind: "gone" | "come") {
  const there = new Set(other.map((line) => line.text));
  return of.filter((line) => !there.has(line.text)).map((line) => ({ kind, text: `\n${line.text}` }));
}
