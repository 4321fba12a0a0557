/** What a compression cost, kept and left out. Every figure is the server's; a fact that was left out can be put back. */

import { useState } from "react";
import type { Receipt, Snapshot } from "../../api/types";
import { count, dollars, seconds } from "../../lib/format";
import { FactList } from "./FactList";

const KINDS: Record<string, string> = {
  identifier: "Identifiers",
  path: "Paths",
  number: "Numbers",
  date: "Dates",
  name: "Names",
  command: "Commands",
  decision: "Decisions",
  constraint: "Constraints",
  preference: "Preferences",
  question: "Open questions",
};

interface Props {
  receipt: Receipt | null;
  snapshot: Snapshot;
  conversation: string;
}

export function ReceiptView({ receipt, snapshot, conversation }: Props) {
  return (
    <details className="collapsed receipt">
      <summary>Receipt</summary>
      {receipt ? (
        <div>
          <Sentence receipt={receipt} />
          <Costs receipt={receipt} />
          {receipt.money && <p className="compression-note">This compression {receipt.money}.</p>}
          <Standing standing={receipt.standing} />
          <Facts receipt={receipt} snapshot={snapshot} conversation={conversation} />
        </div>
      ) : (
        <p>This version was written by hand: there is no receipt. Earlier versions have theirs.</p>
      )}
    </details>
  );
}

const NAMED = ["identifier", "path", "number", "date", "name", "command"];
/** Kinds of facts that are a word or two; the others are sentences. */

function Sentence({ receipt }: { receipt: Receipt }) {
  const named = receipt.facts.filter((one) => NAMED.includes(one.kind));
  const kept = named.reduce((sum, one) => sum + one.verbatim_count + one.told_count, 0);
  const all = named.reduce((sum, one) => sum + one.lost_count, kept);
  if (all === 0) return null;
  return (
    <p className="receipt-sentence">
      Kept {count(kept)} of {count(all)} names, numbers and paths.
    </p>
  );
}

function Costs({ receipt }: { receipt: Receipt }) {
  return (
    <dl className="costs">
      <div>
        <dt>Messages</dt>
        <dd>{count(receipt.messages)}</dd>
      </div>
      {!receipt.money && (
        <div>
          <dt>Cost</dt>
          <dd>{cost(receipt)}</dd>
        </div>
      )}
      <div>
        <dt>Time</dt>
        <dd>{seconds(receipt.seconds)}</dd>
      </div>
      <div>
        <dt>Model</dt>
        <dd>
          <bdi>{receipt.model || "none, exact lines only"}</bdi>
        </dd>
      </div>
    </dl>
  );
}

/** A model whose answer was of no use has a price too, but none of it went into this. */
function cost({ price, model, no_summary }: Receipt): string {
  if (price !== null) return dollars(price);
  if (model) return "not known";
  return no_summary ? "–" : "nothing";
}

function Standing({ standing }: { standing: Receipt["standing"] }) {
  const { count: of, kept_count: kept, replaced_count: replaced } = standing;
  if (of === 0 && replaced === 0) return null;
  return (
    <p className="compression-note">
      Of the rules, preferences and decisions that stand, {count(kept)} of {count(of)} are kept
      {replaced > 0 && `; ${count(replaced)} were replaced by later ones`}.
    </p>
  );
}

function Facts({ receipt, snapshot, conversation }: { receipt: Receipt; snapshot: Snapshot; conversation: string }) {
  const [open, setOpen] = useState<string | null>(null);
  const facts = receipt.facts.filter((one) => one.verbatim_count + one.told_count + one.lost_count > 0);
  if (facts.length === 0) return <p className="compression-note">These messages named no facts.</p>;
  return (
    <table className="figures facts">
      <thead>
        <tr>
          <th scope="col">Of what was said</th>
          <th scope="col">kept</th>
          <th scope="col">retold</th>
          <th scope="col">left out</th>
        </tr>
      </thead>
      {facts.map((one) => (
        <tbody key={one.kind}>
          <tr>
            <th scope="row">
              <button
                type="button"
                className="link"
                aria-expanded={open === one.kind}
                onClick={() => setOpen(open === one.kind ? null : one.kind)}
              >
                {KINDS[one.kind] ?? one.kind}
              </button>
            </th>
            <td>{count(one.verbatim_count)}</td>
            <td>{count(one.told_count)}</td>
            <td className={one.lost_count > 0 ? "some-lost" : undefined}>{count(one.lost_count)}</td>
          </tr>
          {open === one.kind && (
            <tr>
              <td colSpan={4}>
                <FactList tally={one} snapshot={snapshot} conversation={conversation} />
              </td>
            </tr>
          )}
        </tbody>
      ))}
    </table>
  );
}
