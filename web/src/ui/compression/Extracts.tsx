/** Lines that were kept word for word, each with the message it comes from. */

import type { SnapshotFull } from "../../api/types";
import { SourceLink } from "./SourceLink";

export const SPEAKERS: Record<string, string> = {
  user: "You",
  assistant: "Answer",
  system: "System",
  call: "Call",
  result: "Result",
};

export function Extracts({ extracts, conversation }: { extracts: SnapshotFull["extracts"]; conversation: string }) {
  if (extracts.length === 0) return null;
  return (
    <details className="collapsed" open>
      <summary>Exact lines</summary>
      <ul className="extracts" tabIndex={0} aria-label="Exact lines">
        {extracts.map((one, index) => (
          <li key={index}>
            <span className="extract-who">{SPEAKERS[one.channel] ?? one.channel}</span>
            <bdi className="extract-text">{one.text}</bdi>
            <SourceLink conversation={conversation} message={one.message} depth={one.depth} />
          </li>
        ))}
      </ul>
    </details>
  );
}
