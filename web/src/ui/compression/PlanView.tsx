/** The plan in figures, or why there is none. What is not known yet is a cap, and says so. */

import { Problem } from "../../api/problem";
import type { Plan } from "../../api/types";
import { capitalized, certainty, count } from "../../lib/format";

const TOO_LITTLE = "There is too little history to compress.";

export function PlanView({ found, retry }: { found: Plan | Problem | null; retry: () => void }) {
  if (found instanceof Problem && found.status === 404)
    return (
      <p className="compression-warning" role="status">
        <strong>{TOO_LITTLE}</strong> Nothing was said here yet.
      </p>
    );
  if (found instanceof Problem)
    return (
      <div className="compression-warning" role="alert">
        <strong>The tokens could not be counted, so nothing can be planned.</strong>
        <p>{found.detail.message}</p>
        {found.detail.hint && <p>{found.detail.hint}</p>}
        <button type="button" className="button small" onClick={retry}>
          Try again
        </button>
      </div>
    );
  return (
    <>
      <table className="figures plan" aria-busy={!found}>
        <caption>What would happen</caption>
        <tbody>
          <Figure name="Messages in all" value={found?.messages} />
          <Figure name="To be compressed" value={found?.covered} />
          <Figure name="Kept word for word" value={found?.retained} />
          <Figure name="Tokens now" value={found?.reading.tokens} note={found ? sureness(found.reading) : undefined} />
          <Figure name="Tokens after" value={found?.after_cap} note="at most" />
        </tbody>
      </table>
      {found && found.covered > 0 && <Writer plan={found} />}
      {found?.money && <p className="compression-note">{capitalized(found.money)}.</p>}
      {found && <Warnings plan={found} />}
    </>
  );
}

/** How sure a count is: that a bill has corrected it is of no interest here. */
function sureness(reading: Plan["reading"]): string {
  const told = certainty(reading);
  return told === "calibrated" ? "counted" : told;
}

function Figure({ name, value, note = "" }: { name: string; value: number | undefined; note?: string | undefined }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {note && value !== undefined && <span className="figure-note">{note} </span>}
        {value === undefined ? "…" : count(value)}
      </td>
    </tr>
  );
}

/** Who will write: a model, or nobody, and why. */
function Writer({ plan }: { plan: Plan }) {
  return (
    <p className="compression-note">
      {plan.writer ? (
        <>
          The summary will be written by <bdi className="mono">{plan.writer}</bdi>.
        </>
      ) : (
        <>
          Exact lines only: <bdi>{plan.unwritten || "no model is set up"}</bdi>.
        </>
      )}
    </p>
  );
}

function Warnings({ plan }: { plan: Plan }) {
  return (
    <div role="status" className="plan-warnings">
      {plan.covered === 0 ? (
        <p className="compression-warning">
          <strong>{TOO_LITTLE}</strong> {capitalized(plan.reason)}.
        </p>
      ) : (
        plan.small && (
          <p className="compression-warning">
            This conversation is small: it would not be compressed automatically, and a summary may not make it smaller.
          </p>
        )
      )}
      {plan.reading.basis === "estimated" && (
        <p className="compression-warning">
          The tokens of this model cannot be counted exactly: these figures are estimates, give or take{" "}
          {count(plan.reading.error_bound)}.
        </p>
      )}
    </div>
  );
}
