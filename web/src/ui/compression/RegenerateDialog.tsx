/** Have the summary written again, from the originals, with another focus. */

import { useState, type FormEvent } from "react";
import type { Snapshot } from "../../api/types";
import { plural } from "../../lib/format";
import { compress } from "../../state/effects/compression";
import { closeDialog, Dialog } from "../kit/Dialog";

export function RegenerateDialog({ id, snapshot }: { id: string; snapshot: Snapshot }) {
  const [focus, setFocus] = useState(snapshot.instructions);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void compress(id, { focus, keep: null, snapshot: snapshot.id, small: false });
    closeDialog();
  };
  return (
    <Dialog title="Write the summary again">
      <form className="form" onSubmit={submit}>
        <p>
          It is written anew from the {plural(snapshot.messages, "original message")}. You can go back to the version that is
          in use now.
        </p>
        <label className="field">
          <span>Focus (optional)</span>
          <textarea rows={3} dir="auto" value={focus} onChange={(event) => setFocus(event.target.value)} />
        </label>
        <div className="dialog-actions">
          <button type="button" className="button" onClick={closeDialog}>
            Cancel
          </button>
          <button type="submit" className="button primary">
            Write it again
          </button>
        </div>
      </form>
    </Dialog>
  );
}
