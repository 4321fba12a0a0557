/** Lines that were kept word for word, message by message; those that stand first, and in people's hands. */

import type { ReactNode } from "react";
import type { Snapshot, SnapshotFull } from "../../api/types";
import { SPEAKERS } from "../../lib/speakers";
import { pinWords } from "../../state/effects/pins";
import { dropLine } from "../../state/effects/snapshots";
import type { Chat } from "../../state/types";
import { SourceLink } from "./SourceLink";

type Line = SnapshotFull["extracts"][number];

export function Extracts({ extracts, snapshot, chat }: { extracts: Line[]; snapshot: Snapshot; chat: Chat }) {
  const isPinned = ({ message, text }: Line) =>
    chat.compression.pins.some((pin) => pin.message === message && (!pin.text || pin.text === text));
  return (
    <>
      <Lines
        title="Standing: rules, preferences, decisions"
        lines={extracts.filter((one) => one.standing)}
        conversation={chat.id}
        actions={(one) => (
          <span className="extract-actions">
            <button
              type="button"
              className="link"
              disabled={isPinned(one)}
              onClick={() => void pinWords(chat.id, one.message, one.text)}
            >
              {isPinned(one) ? "pinned" : "pin"}
            </button>
            <button type="button" className="link" onClick={() => void dropLine(chat.id, snapshot, one)}>
              drop
            </button>
          </span>
        )}
      />
      <Lines title="Exact lines" lines={extracts.filter((one) => !one.standing)} conversation={chat.id} />
    </>
  );
}

interface Props {
  title: string;
  lines: Line[];
  conversation: string;
  actions?: (line: Line) => ReactNode;
}

function Lines({ title, lines, conversation, actions }: Props) {
  if (lines.length === 0) return null;
  return (
    <details className="collapsed" open>
      <summary>{title}</summary>
      <ul className="extracts" tabIndex={0} aria-label={title}>
        {grouped(lines).map(([first, ...others]) => (
          <li key={`${first.message}-${first.text}`}>
            <span className="extract-head">
              <span className="extract-who">{SPEAKERS[first.channel] ?? first.channel}</span>
              <SourceLink conversation={conversation} message={first.message} depth={first.depth} />
            </span>
            {[first, ...others].map((line, index) => (
              <span key={index} className="extract-line">
                <bdi className="extract-text">{line.text}</bdi>
                {actions?.(line)}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Neighbours of one message, said in one way, stand together. */
function grouped(lines: Line[]): [Line, ...Line[]][] {
  const groups: [Line, ...Line[]][] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (last?.[0].message === line.message && last[0].channel === line.channel) last.push(line);
    else groups.push([line]);
  }
  return groups;
}
