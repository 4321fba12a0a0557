/** The words of a summary: the sections that hold something; every line of it can be asked where it comes from. */

import { useState } from "react";
import type { Passage } from "../../api/types";
import { capitalized } from "../../lib/format";
import { SPEAKERS } from "../../lib/speakers";
import { piecesOf } from "../../lib/summary";
import type { SnapshotRead } from "../../state/compression";
import { findSource } from "../../state/effects/snapshots";
import type { Chat } from "../../state/types";
import { Markdown } from "../chat/Markdown";
import { SourceLink } from "./SourceLink";

const SHOWN = 280;
/** Characters of a source: enough to know it again. */

export function SummaryView({ read, chat }: { read: SnapshotRead; chat: Chat }) {
  const { summary, files } = read.full;
  const reason = read.receipt?.no_summary ?? "";
  return (
    <>
      {summary ? (
        <div className="summary-view">
          {piecesOf(summary).map((piece, index) =>
            piece.kind === "heading" ? (
              <h2 key={index} dir="auto">
                {piece.text}
              </h2>
            ) : (
              <Line key={`${index}-${piece.text}`} text={piece.text} listed={piece.kind === "line"} id={chat.id} />
            ),
          )}
        </div>
      ) : (
        <p className="compression-note">
          {reason ? <bdi>{capitalized(reason)}</bdi> : "No model retold these messages"}; exact lines are used instead.
        </p>
      )}
      {summary && reason && (
        <p className="compression-note">
          The newest of these messages were not retold: <bdi>{reason}</bdi>.
        </p>
      )}
      {files.length > 0 && (
        <p className="compression-note">
          Files of these messages: <bdi>{files.join(", ")}</bdi>
        </p>
      )}
    </>
  );
}

function Line({ text, listed, id }: { text: string; listed: boolean; id: string }) {
  const [source, setSource] = useState<Passage | "none" | null>(null);
  return (
    <div className={listed ? "summary-line listed" : "summary-line"}>
      <Markdown text={text} />
      <button
        type="button"
        className="link summary-source"
        aria-expanded={source !== null}
        onClick={() => (source ? setSource(null) : void findSource(id, text).then(setSource))}
      >
        source
      </button>
      {source === "none" && <p className="summary-origin">No message says this in these words.</p>}
      {source && source !== "none" && (
        <p className="summary-origin" dir="auto">
          <span className="extract-who">{SPEAKERS[source.channel]}:</span> {source.text.slice(0, SHOWN)}
          {source.text.length > SHOWN && "…"} <SourceLink conversation={id} message={source.source} depth={source.depth} />
        </p>
      )}
    </div>
  );
}
