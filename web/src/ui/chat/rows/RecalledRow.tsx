/** What was recalled for the question above: a quiet line that opens to the passages, and the switch for it. */

import { useRef } from "react";
import type { Passage } from "../../../api/types";
import { SPEAKERS } from "../../../lib/speakers";
import { day, plural } from "../../../lib/format";
import { recalls, setRecall } from "../../../state/effects/settings";
import type { Chat } from "../../../state/types";
import { SourceLink } from "../../compression/SourceLink";
import { keepInSight } from "../../kit/sight";

interface Props {
  message: string;
  passages: Passage[];
  chat: Chat;
}

const opened = new Set<string>();
/** Messages whose line is open: it still is when whoever followed a link to a passage's source comes back. */

export function RecalledRow({ message, passages, chat }: Props) {
  const row = useRef<HTMLDetailsElement>(null);
  const sources = new Set(passages.map((one) => one.source)).size;
  const on = !chat.settings || recalls(chat.settings);
  return (
    <details
      ref={row}
      className="recalled"
      open={opened.has(message)}
      onToggle={(event) => (event.currentTarget.open ? opened.add(message) : opened.delete(message))}
    >
      <summary onClick={() => keepInSight(row, { lost: true })}>{plural(sources, "earlier message")} recalled</summary>
      <div className="recalled-panel">
        <ul tabIndex={0} aria-label="Recalled passages">
          {passages.map((one, index) => (
            <li key={index}>
              <span className="extract-who">
                {SPEAKERS[one.channel]} {one.speaker && <bdi>({one.speaker})</bdi>}
                {one.day && <time dateTime={one.day}>{day(one.day)}</time>}
                {!one.whole && <span>in part</span>}
              </span>
              <SourceLink conversation={chat.id} message={one.source} depth={one.depth} />
              <bdi className="extract-text">{one.text}</bdi>
            </li>
          ))}
        </ul>
        <label className="recalled-switch">
          <input
            type="checkbox"
            role="switch"
            checked={on}
            disabled={!chat.settings}
            onChange={(event) => void setRecall(chat.id, event.target.checked)}
          />
          Recall in this conversation
        </label>
        {!on && <p className="recalled-off">Off: nothing is recalled, and these passages are no longer sent.</p>}
      </div>
    </details>
  );
}
