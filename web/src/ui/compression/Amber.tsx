/** Where the summary is not to be trusted: it says something else than what was said. */

import type { Receipt } from "../../api/types";
import { SourceLink } from "./SourceLink";

export function Amber({ receipt, conversation }: { receipt: Receipt | null; conversation: string }) {
  return (
    <>
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
