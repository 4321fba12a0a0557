/** Everything that can be done with a fold. */

import type { Snapshot } from "../../api/types";
import { showOriginals, undoFold } from "../../state/effects/snapshots";
import { dispatch } from "../../state/store";
import type { Chat, Dialog } from "../../state/types";

const open = (dialog: Dialog) => dispatch({ type: "dialog/opened", dialog });

export function FoldActions({ snapshot, chat }: { snapshot: Snapshot; chat: Chat }) {
  const { id } = chat;
  const shown = chat.fold.originals;
  const actions: [string, () => void][] = [
    ["Undo", () => void undoFold(id, snapshot)],
    ["Edit the summary", () => open({ kind: "summary", id, snapshot })],
    ["Regenerate", () => open({ kind: "regenerate", id, snapshot })],
    ["Versions", () => open({ kind: "versions", id })],
    [shown ? "Hide the originals" : "Show the originals", () => showOriginals(id, !shown)],
  ];
  return (
    <div className="fold-actions" role="group" aria-label="This fold">
      {actions.map(([label, run]) => (
        <button key={label} type="button" className="button quiet small" onClick={run}>
          {label}
        </button>
      ))}
      <span className="fold-kind">
        version {snapshot.version}, {snapshot.kind}
      </span>
    </div>
  );
}
