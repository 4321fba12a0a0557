/** Says that this branch has left a compression, so that its messages are sent in full, and offers to compress here. */

import { plural } from "../../lib/format";
import { askToCompress } from "../../state/effects/compression";
import type { Chat } from "../../state/types";

const WORTH_IT = 25;
/** Percent of the room from which on it is worth a word: a short branch is sent in full anyway. */

export function LeftBehind({ chat }: { chat: Chat }) {
  const left = chat.snapshots?.left_behind;
  if (!left || chat.turn || (chat.usage?.percent ?? 0) < WORTH_IT) return null;
  return (
    <p className="left-behind" role="status">
      The compression of {plural(left.messages, "message")} belongs to another branch: here all messages are sent in full.{" "}
      <button type="button" className="link" onClick={() => askToCompress(chat.id)}>
        Compress here
      </button>
    </p>
  );
}
