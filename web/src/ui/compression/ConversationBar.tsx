/** The whole conversation as a bar: what is compressed, what is sent word for word, pins, and what was recalled. */

import type { Snapshot } from "../../api/types";
import { count } from "../../lib/format";
import { showSource } from "../../state/effects/snapshots";
import type { Chat } from "../../state/types";

export function ConversationBar({ chat, snapshot }: { chat: Chat; snapshot: Snapshot }) {
  const last = chat.messages.at(-1);
  if (!last) return null;
  const place = (depth: number) => `${(100 * (depth - 0.5)) / last.depth}%`;
  const pins = chat.compression.pins.flatMap((pin) => chat.messages.find((one) => one.id === pin.message) ?? []);
  const recalled = chat.messages.flatMap((one) => one.recalled ?? []);
  const marks = [
    ...pins.map(({ id, depth }) => ({ kind: "pinned", id, depth })),
    ...recalled.map(({ source, depth }) => ({ kind: "recalled", id: source, depth })),
  ];
  const shown = [...new Map(marks.map((mark) => [`${mark.kind}-${mark.id}`, mark])).values()];
  return (
    <div className="conversation-bar" role="group" aria-label="The whole conversation">
      <div className="conversation-strip">
        <button
          type="button"
          className="strip covered"
          style={{ flexGrow: snapshot.cutoff_depth }}
          onClick={() => showSource(chat.id, snapshot.first, 0)}
        >
          {count(snapshot.messages)} compressed
        </button>
        <button
          type="button"
          className="strip retained"
          style={{ flexGrow: Math.max(1, last.depth - snapshot.cutoff_depth) }}
          onClick={() => showSource(chat.id, last.id, last.depth)}
        >
          {count(Math.max(0, last.depth - snapshot.cutoff_depth))} word for word
        </button>
      </div>
      <div className="conversation-marks">
        {shown.map((mark) => (
          <button
            key={`${mark.kind}-${mark.id}`}
            type="button"
            className={`bar-mark ${mark.kind}`}
            style={{ insetInlineStart: place(mark.depth) }}
            aria-label={`Message ${mark.depth}, ${mark.kind}`}
            title={`Message ${mark.depth}, ${mark.kind}`}
            onClick={() => showSource(chat.id, mark.id, mark.depth)}
          />
        ))}
      </div>
      {shown.length > 0 && (
        <p className="bar-legend">
          {pins.length > 0 && <span className="pinned">pinned</span>}
          {recalled.length > 0 && <span className="recalled">recalled</span>}
        </p>
      )}
    </div>
  );
}
