/** Leads to the message something comes from. */

import { count } from "../../lib/format";
import { showSource } from "../../state/effects/snapshots";

const ANYWHERE = -1;
/** No depth is smaller: looked for up to the first message. */

export function SourceLink(props: { conversation: string; message: string; depth?: number }) {
  const { conversation, message, depth = ANYWHERE } = props;
  return (
    <button type="button" className="link" onClick={() => showSource(conversation, message, depth)}>
      {depth === ANYWHERE ? "source" : `message ${count(depth)}`}
    </button>
  );
}
