/** Lines that were kept word for word, each with the message it comes from; those that stand first, and in people's hands. */

import type { ReactNode } from "react";
import type { Snapshot, SnapshotFull } from "../../api/types";
import { pinWords } from "../../state/effects/pins";
import { dropLine } from "../../state/effects/snapshots";
import type { Chat } from "../../state/types";
import { SourceLink } from "./SourceLink";

type Line = SnapshotFull["extracts"][number];

export const SPEAKERS: Record<string, string> = {
  user: "You",
  assistant: "Answer",
  system: "System",
  call: "Call",
  result: "Result",
};

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
          <>
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
          </>
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
        {lines.map((one, index) => (
          <li key={index}>
            <span className="extract-who">{SPEAKERS[one.channel] ?? one.channel}</span>
            <bdi className="extract-text">{one.text}</bdi>
            <span className="extract-actions">
              <SourceLink conversation={conversation} message={one.message} depth={one.depth} />
              {actions?.(one)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
