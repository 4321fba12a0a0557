/** All snapshots of this branch: which one is in use, two of them side by side, and another one chosen. */

import { useState } from "react";
import type { Snapshot } from "../../api/types";
import { count, moment } from "../../lib/format";
import { chooseCompression, undoCompression } from "../../state/effects/snapshots";
import { useStore } from "../../state/store";
import { Dialog } from "../kit/Dialog";
import { Comparison } from "./Comparison";

export function VersionsDialog({ id }: { id: string }) {
  const listed = useStore((state) => (state.chat?.id === id ? state.chat.snapshots : null));
  const all = listed?.snapshots ?? [];
  const [picked, pick] = useState({ left: all.at(-2)?.id ?? "", right: all.at(-1)?.id ?? "" });
  return (
    <Dialog title="Versions of the summary" wide>
      <div className="versions" tabIndex={0} role="group" aria-label="Versions">
        <table className="figures">
          <thead>
            <tr>
              <th scope="col">Left</th>
              <th scope="col">Right</th>
              <th scope="col">Version</th>
              <th scope="col">State</th>
              <th scope="col">Tokens</th>
              <th scope="col">Messages</th>
              <th scope="col">Made</th>
            </tr>
          </thead>
          <tbody>
            {all.map((one) => (
              <tr key={one.id}>
                {(["left", "right"] as const).map((side) => (
                  <td key={side}>
                    <input
                      type="radio"
                      name={side}
                      aria-label={`${side === "left" ? "Left" : "Right"}: version ${one.version}, ${count(one.messages)} messages`}
                      checked={picked[side] === one.id}
                      onChange={() => pick({ ...picked, [side]: one.id })}
                    />
                  </td>
                ))}
                <th scope="row">
                  {one.version}, {one.kind}
                </th>
                <td>
                  <StateOf id={id} snapshot={one} serving={listed?.serving === one.id} />
                </td>
                <td>
                  {count(one.tokens_before)} → {count(one.tokens_after)}
                </td>
                <td>{count(one.messages)}</td>
                <td>{moment(one.created)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {picked.left && picked.right && picked.left !== picked.right ? (
        <Comparison id={id} left={picked.left} right={picked.right} />
      ) : (
        <p className="compression-note">
          {all.length > 1 ? "Pick two of them to see them side by side." : "There is one version so far."}
        </p>
      )}
    </Dialog>
  );
}

function StateOf({ id, snapshot, serving }: { id: string; snapshot: Snapshot; serving: boolean }) {
  if (snapshot.state === "retired") return <>retired</>;
  return (
    <>
      {serving ? "in use" : snapshot.state === "undone" ? "undone" : "older"}{" "}
      <button type="button" className="link" onClick={() => void (serving ? undoCompression : chooseCompression)(id, snapshot)}>
        {serving ? "Undo" : "Use this version"}
      </button>
    </>
  );
}
