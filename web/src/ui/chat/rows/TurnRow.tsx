/** An answer in the making: what happens before it, then its words as they come. */

import { useEffect, useState } from "react";
import type { Again } from "../../../api/events";
import { speakerOf, withTitle } from "../../../lib/provider";
import { stop } from "../../../state/effects/turns";
import { useStore } from "../../../state/store";
import { plural } from "../../../lib/format";
import type { Turn } from "../../../state/types";
import { Markdown } from "../Markdown";
import { Collapsed } from "../parts/Collapsed";

export function TurnRow({ turn }: { turn: Turn }) {
  return (
    <article className="message assistant live" aria-label="Answer" aria-busy="true">
      <header className="message-head">
        <span>{label(turn)}</span>
      </header>
      <div className="message-body" dir="auto">
        {turn.reasoning && (
          <Collapsed title="Reasoning">
            <Markdown text={turn.reasoning} />
          </Collapsed>
        )}
        {turn.again && <Waiting again={turn.again} />}
        {turn.text ? <Markdown text={turn.text} /> : <span className="working" aria-hidden="true" />}
      </div>
    </article>
  );
}

/** Counts down to the next try. */
function Waiting({ again }: { again: Again }) {
  const [left, setLeft] = useState(Math.ceil(again.wait));
  useEffect(() => {
    const at = Date.now() + again.wait * 1_000;
    setLeft(Math.ceil(again.wait));
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((at - Date.now()) / 1_000))), 250);
    return () => clearInterval(timer);
  }, [again]);
  const models = useStore((state) => state.models);
  const speaker = speakerOf(again.reason, models);
  const why = !again.limited ? withTitle(again.reason, models) : speaker ? `Rate limited by ${speaker}` : "Rate limited";
  return (
    <p className="unfinished" title={again.reason}>
      <span>
        {why}, trying again {left > 0 ? `in ${left} s` : "now"} ·{" "}
        <button type="button" className="link" onClick={() => void stop()}>
          stop
        </button>
      </span>
    </p>
  );
}

function label(turn: Turn): string {
  if (turn.stopping) return "Stopping…";
  if (turn.compression) return `Compressing ${plural(turn.compression.messages, "message")}…`;
  if (turn.phase === "compressing") return "Waiting for the compression…";
  if (turn.again) return `Trying again (${turn.again.attempt} of ${turn.again.attempts})`;
  return turn.phase === "writing" ? "Writing…" : "Waiting for the model…";
}
