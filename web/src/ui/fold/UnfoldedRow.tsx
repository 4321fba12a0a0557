/** Where a fold was undone: its messages are sent word for word again. */

import type { Snapshot } from "../../api/types";
import { plural } from "../../lib/format";
import { chooseFold } from "../../state/effects/snapshots";
import { dispatch } from "../../state/store";

export function UnfoldedRow({ snapshot, conversation }: { snapshot: Snapshot; conversation: string }) {
  return (
    <div className="fold undone">
      <span className="fold-line">
        The fold of {plural(snapshot.messages, "message")} was undone
        <button type="button" className="link" onClick={() => void chooseFold(conversation, snapshot)}>
          Redo
        </button>
        <button
          type="button"
          className="link"
          onClick={() => dispatch({ type: "dialog/opened", dialog: { kind: "versions", id: conversation } })}
        >
          Versions
        </button>
      </span>
    </div>
  );
}
