/** An answer in the making: what happens before it, then its words as they come. */

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
        {turn.again && <p className="unfinished">{turn.again.reason}</p>}
        {turn.text ? <Markdown text={turn.text} /> : <span className="working" aria-hidden="true" />}
      </div>
    </article>
  );
}

function label(turn: Turn): string {
  if (turn.stopping) return "Stopping…";
  if (turn.compression) return `Compressing ${plural(turn.compression.messages, "message")}…`;
  if (turn.phase === "compressing") return "Waiting for the compression…";
  if (turn.again) return `Trying again (${turn.again.attempt} of ${turn.again.attempts})…`;
  return turn.phase === "writing" ? "Writing…" : "Waiting for the model…";
}
