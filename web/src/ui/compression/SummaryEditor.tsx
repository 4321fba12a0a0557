/** The summary, written by hand in its place: a new version, counted as it is typed. The old one stays among the versions. */

import { useEffect, useState, type FormEvent } from "react";
import type { Snapshot, SummarySize } from "../../api/types";
import { count } from "../../lib/format";
import { editSummary, endSummaryEdit, measureSummary } from "../../state/effects/snapshots";

const PAUSE = 300;
/** Milliseconds without a key before the text is counted. */

export function SummaryEditor({ id, snapshot, was }: { id: string; snapshot: Snapshot; was: string }) {
  const [text, setText] = useState(was);
  const [busy, setBusy] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const size = useSize(id, snapshot, text);
  const tooLong = size !== null && size.tokens > size.room;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    if (text.trim() && (await editSummary(id, snapshot, text))) endSummaryEdit(id);
    else setBusy(false);
  };
  const leave = () => (text === was || leaving ? endSummaryEdit(id) : setLeaving(true));
  return (
    <form className="summary-editor" onSubmit={(event) => void submit(event)}>
      <textarea
        autoFocus
        rows={Math.min(24, Math.max(8, text.split("\n").length + 1))}
        dir="auto"
        className="summary-text"
        aria-label="The summary, sent in place of the older messages"
        aria-describedby="summary-size"
        aria-invalid={tooLong}
        value={text}
        onChange={(event) => {
          setLeaving(false);
          setText(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          // Not for the page, where it stops an answer.
          event.preventDefault();
          leave();
        }}
      />
      <div className="summary-editor-foot">
        <p id="summary-size" role="status" className={tooLong ? "some-lost" : "compression-note"}>
          {leaving ? "Throw your changes away?" : sizeText(size, tooLong)}
        </p>
        <button type="button" className="button small" onClick={leave}>
          {leaving ? "Throw away" : "Cancel"}
        </button>
        <button type="submit" className="button small primary" disabled={busy || tooLong || !text.trim() || text === was}>
          Save as a new version
        </button>
      </div>
    </form>
  );
}

function sizeText(size: SummarySize | null, tooLong: boolean): string {
  if (!size) return "\u00a0";
  return tooLong
    ? `${count(size.tokens)} tokens with the exact lines: at most ${count(size.room)} fit. Shorten it.`
    : `${count(size.tokens)} of at most ${count(size.room)} tokens, with the exact lines`;
}

/** What the snapshot would cost with this text, a moment after it was typed. */
function useSize(id: string, snapshot: Snapshot, text: string): SummarySize | null {
  const [size, setSize] = useState<SummarySize | null>(null);
  useEffect(() => {
    if (!text.trim()) {
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
