/** Where the tokens go, section by section, and how the window is divided. Every figure is the server's. */

import type { Usage } from "../../api/types";
import { certainty, count, percent } from "../../lib/format";
import { openHistory } from "../../state/effects/history";
import { dispatch, useStore } from "../../state/store";

const SECTIONS: Record<string, string> = {
  system: "System prompt",
  tools: "Tools",
  pins: "Pins",
  summary: "Summary of compressed messages",
  retained: "Messages",
  pending: "What you are sending",
  frame: "Framing",
};

/** The sections of the next request; what was recalled is not a section, but a part of the messages. */
export const sectionsOf = ({ reading, recalled }: Usage): [string, number][] => [
  ...reading.breakdown.map((one): [string, number] => [SECTIONS[one.section] ?? one.section, one.tokens]),
  ...(recalled > 0 ? [["of these, recalled from earlier", recalled] as [string, number]] : []),
];

const BASES: Record<Usage["reading"]["basis"], string> = {
  exact: "Counted with the model's own tokenizer",
  calibrated: "Counted, and corrected by what the provider billed",
  estimated: "Estimated: this model's tokenizer is not known",
};

export function MeterBreakdown({ usage }: { usage: Usage }) {
  const { reading, budget } = usage;
  const id = useStore((state) => state.chat?.id);
  return (
    <div className="breakdown">
      <p className="breakdown-total">
        <b>{count(reading.tokens)}</b> of {count(budget.limit)} tokens that may be sent, {percent(usage.percent)}
      </p>
      <Figures
        caption="The next request"
        rows={sectionsOf(usage)}
      />
      <Figures
        caption="The window"
        rows={[
          ["Kept free for the reply", budget.reply],
          ["Safety margin", budget.margin],
          ["Left until the window is full", usage.left],
          ["Window", budget.window],
        ]}
      />
      <Figures
        caption="Marks"
        rows={[
          ["A compression is prepared above", budget.prepare],
          ["Compressed between turns above", budget.soft],
          ["Compressed before sending above", budget.hard],
          ["Until the next automatic compression", usage.next_in],
        ]}
      />
      <p className="breakdown-basis">
        {BASES[reading.basis]}
        {reading.error_bound > 0 && <>, give or take {count(reading.error_bound)}</>}
        {certainty(reading) === "counted" && <>: what the provider adds shows with its first bill</>}.{" "}
        {usage.assumed && <>The window of this model is not known; {count(budget.window)} is assumed. </>}
        <bdi className="mono">{usage.model}</bdi>
      </p>
      <p className="breakdown-actions">
        {id && (
          <button type="button" className="button small" onClick={() => openHistory(id, "sent")}>
            See what will be sent
          </button>
        )}
        <button
          type="button"
          className="button small"
          onClick={() => dispatch({ type: "dialog/opened", dialog: { kind: "settings", tab: "costs" } })}
        >
          See what it cost
        </button>
      </p>
    </div>
  );
}

function Figures({ caption, rows }: { caption: string; rows: [string, number | null][] }) {
  return (
    <table className="figures">
      <caption>{caption}</caption>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value === null ? "off" : count(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
