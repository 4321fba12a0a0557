/**
 * What the next request holds, of what may be sent; always in sight.
 *
 * The bar is the whole that may be sent, with a tick at each mark; the colour is the level the server decides by.
 */

import type { Usage } from "../../api/types";
import { distance } from "../../lib/distance";
import { count, percent } from "../../lib/format";
import { Popover } from "../kit/Popover";
import { MeterBreakdown } from "./MeterBreakdown";

const LEVELS: Record<Usage["level"], string> = {
  calm: "room left",
  soft: "nearly full",
  hard: "full",
};

const share = (tokens: number, limit: number) => `${Math.min(100, (100 * tokens) / limit)}%`;

/** `drafted`: what stands in the input is counted too. */
export function Meter({ usage, preparing, drafted }: { usage: Usage | null; preparing: boolean; drafted: boolean }) {
  if (!usage) return <span className="meter-none">The meter needs a model</span>;
  const { reading, budget } = usage;
  return (
    <Popover
      label="Context"
      named
      className={`meter ${usage.level}`}
      buttonClass="meter-button"
      align="end"
      button={
        <>
          <span className="meter-text">
            <span>
              <span className="unseen">Context: </span>
              {count(reading.tokens)} of {count(budget.limit)} tokens
              {drafted && <span className="unseen">, with what you write</span>}
            </span>
            <span className="meter-percent">
              {percent(usage.percent)}
              <span className="unseen">, {LEVELS[usage.level]}</span>
            </span>
          </span>
          <Bar usage={usage} />
          <span className="meter-text">
            <span>{preparing ? "preparing a compression…" : distance(usage)}</span>
          </span>
        </>
      }
    >
      {() => <MeterBreakdown usage={usage} />}
    </Popover>
  );
}

function Bar({ usage }: { usage: Usage }) {
  const { reading, budget } = usage;
  const marks = [budget.prepare, budget.soft, budget.hard].filter((mark) => mark !== null);
  return (
    <span className="meter-bar" aria-hidden="true">
      <span className="meter-fill" style={{ inlineSize: share(reading.tokens, budget.limit) }} />
      {marks.map((mark) => (
        <span key={mark} className="meter-mark" style={{ insetInlineStart: share(mark, budget.limit) }} />
      ))}
    </span>
  );
}
