/** Where a compression was undone: its messages are sent word for word again. */

import type { Snapshot } from "../../api/types";
import { plural } from "../../lib/format";
import { chooseCompression } from "../../state/effects/snapshots";

export function UndoneRow({ snapshot, conversation }: { snapshot: Snapshot; conversation: string }) {
  return (
    <div className="compression undone">
      <span className="compression-line">
        The compression of {plural(snapshot.messages, "message")} was undone
        <button type="button" className="link" onClick={() => void chooseCompression(conversation, snapshot)}>
          Redo
        </button>
      </span>
    </div>
  );
}
