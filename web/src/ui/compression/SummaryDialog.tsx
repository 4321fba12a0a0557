/** Write the summary oneself: a new version, which is in use from then on; the old one stays among the versions. */

import { useEffect, useState, type FormEvent } from "react";
import type { Snapshot, SummarySize } from "../../api/types";
import { count } from "../../lib/format";
import { editSummary, measureSummary, readSnapshot } from "../../state/effects/snapshots";
import { closeDialog, Dialog } from "../kit/Dialog";

const PAUSE = 300;
/** Milliseconds without a key before the text is counted. */

export function SummaryDialog({ id, snapshot }: { id: string; snapshot: Snapshot }) {
  const [was, setWas] = useState("");
  const [text, setText] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [leaving, setLeaving] = useState(false);
  useEffect(() => {
    void readSnapshot(id, snapshot.id).then((read) => {
      setWas(read?.full.summary ?? "");
      setText(read?.full.summary ?? "");
    });
  }, [id, snapshot.id]);
  const size = useSize(id, snapshot, text);
  const tooLong = size !== null && size.tokens > size.room;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    if (text?.trim() && (await editSummary(id, snapshot, text))) closeDialog();
    setBusy(false);
  };
  const leave = () => (text !== null && text !== was ? setLeaving(true) : closeDialog());
  return (
    <Dialog title="Edit the summary" wide onClose={leave}>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <label className="field">
          <span>Sent in place of the older messages; the exact lines stay as they are</span>
          <textarea
            rows={16}
            dir="auto"
            className="summary-text"
            aria-describedby="summary-size"
            aria-invalid={tooLong}
            value={text ?? ""}
            disabled={text === null}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <p id="summary-size" role="status" className={tooLong ? "compression-warning" : "compression-note"}>
          {size === null
            ? "\u00a0"
            : tooLong
              ? `${count(size.tokens)} tokens with the exact lines: at most ${count(size.room)} fit. Shorten it.`
              : `${count(size.tokens)} of at most ${count(size.room)} tokens, with the exact lines`}
        </p>
        {leaving ? (
          // Keys: a button that React used again for another one would submit the form with the click that it got.
          <div key="leaving" className="dialog-actions" role="alert">
            <span className="compression-note">Throw your changes away?</span>
            <button type="button" className="button" autoFocus onClick={() => setLeaving(false)}>
              Keep editing
            </button>
            <button type="button" className="button" onClick={closeDialog}>
              Throw away
            </button>
          </div>
        ) : (
          <div key="editing" className="dialog-actions">
            <button type="button" className="button" onClick={leave}>
              Cancel
            </button>
            <button type="submit" className="button primary" disabled={busy || tooLong || !text?.trim()}>
              Save as a new version
            </button>
          </div>
        )}
      </form>
    </Dialog>
  );
}

/** What the snapshot would cost with this text, a moment after it was typed. */
function useSize(id: string, snapshot: Snapshot, text: string | null): SummarySize | null {
  const [size, setSize] = useState<SummarySize | null>(null);
  useEffect(() => {
    if (!text?.trim()) {
      setSize(null);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      void measureSummary(id, snapshot, text, stop.signal).then((told) => !stop.signal.aborted && setSize(told));
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [id, snapshot, text]);
  return size;
}
