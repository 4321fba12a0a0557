/** Where the summary was not to be trusted: what was taken out of it, and where it says something else than what was said. */

import type { Receipt } from "../../api/types";
import { count } from "../../lib/format";
import { SourceLink } from "./SourceLink";

const MARK = /^[-*+]\s+/;
/** What makes a line one of a list. */

export function Amber({ receipt, conversation }: { receipt: Receipt | null; conversation: string }) {
  return (
    <>
      {receipt && receipt.taken_out_count > 0 && (
        <div className="compression-warning">
          <p>Taken out of the summary, because the originals do not say it:</p>
          <ul className="taken-out-lines" aria-label="Taken out of the summary">
            {receipt.taken_out.map((line) => (
              <li key={line} dir="auto">
                <del>{line.replace(MARK, "")}</del>
              </li>
            ))}
            {receipt.taken_out_count > receipt.taken_out.length && (
              <li>… and {count(receipt.taken_out_count - receipt.taken_out.length)} more</li>
            )}
          </ul>
        </div>
      )}
      {receipt?.standing.changed.map((one) => (
        <p key={one.told} className="compression-warning">
          <span>
            The summary says <q dir="auto">{one.told}</q>, but what was said is <q dir="auto">{one.text}</q>{" "}
            <SourceLink conversation={conversation} message={one.message} />
          </span>
        </p>
      ))}
      {receipt?.conflicts.map((one) => (
        <p key={one.key} className="compression-warning">
          <span>
            <bdi>{one.key}</bdi>: an older value, <bdi className="mono">{one.kept}</bdi>, was kept; the newest is{" "}
            <bdi className="mono">{one.newest}</bdi> <SourceLink conversation={conversation} message={one.message} />
          </span>
        </p>
      ))}
    </>
  );
}
