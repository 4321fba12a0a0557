/** Everything that can be done with a compression. */

import type { Snapshot } from "../../api/types";
import { showOriginals, undoCompression } from "../../state/effects/snapshots";
import { dispatch } from "../../state/store";
import type { Chat, Dialog } from "../../state/types";

const open = (dialog: Dialog) => dispatch({ type: "dialog/opened", dialog });

export function CompressionActions({ snapshot, chat }: { snapshot: Snapshot; chat: Chat }) {
  const { id } = chat;
  const shown = chat.compression.originals;
  const actions: [string, () => void][] = [
    ["Undo", () => void undoCompression(id, snapshot)],
    ["Edit the summary", () => open({ kind: "summary", id, snapshot })],
    ["Regenerate", () => open({ kind: "regenerate", id, snapshot })],
    ["Versions", () => open({ kind: "versions", id })],
    [shown ? "Hide the originals" : "Show the originals", () => showOriginals(id, !shown)],
  ];
  return (
    <div className="compression-actions" role="group" aria-label="This compression">
      {actions.map(([label, run]) => (
        <button key={label} type="button" className="button quiet small" onClick={run}>
          {label}
        </button>
      ))}
      <span className="compression-kind">
        version {snapshot.version}, {snapshot.kind}
      </span>
    </div>
  );
}
