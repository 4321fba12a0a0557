/** Write the summary oneself: a new version, which serves from then on; the old one stays among the versions. */

import { useEffect, useState, type FormEvent } from "react";
import type { Snapshot } from "../../api/types";
import { editSummary, readSnapshot } from "../../state/effects/snapshots";
import { closeDialog, Dialog } from "../kit/Dialog";

export function SummaryDialog({ id, snapshot }: { id: string; snapshot: Snapshot }) {
  const [text, setText] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    void readSnapshot(id, snapshot.id).then((read) => setText(read?.full.summary ?? ""));
  }, [id, snapshot.id]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    if (text?.trim() && (await editSummary(id, snapshot, text))) closeDialog();
    setBusy(false);
  };
  return (
    <Dialog title="Edit the summary" wide>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <label className="field">
          <span>Sent in place of the folded messages; the exact lines stay as they are</span>
          <textarea
            rows={16}
            dir="auto"
            className="summary-text"
            value={text ?? ""}
            disabled={text === null}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={closeDialog}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={busy || !text?.trim()}>
            Save as a new version
          </button>
        </div>
      </form>
    </Dialog>
  );
}
