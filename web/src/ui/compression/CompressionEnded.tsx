/** How a compression ended: what it made, or why it made nothing and what can be done. */

import { count, plural } from "../../lib/format";
import { reasonOf } from "../../lib/outcome";
import { compress } from "../../state/effects/compression";
import { showCompression, undoCompression } from "../../state/effects/snapshots";
import type { RunningCompression } from "../../state/compression";
import { useStore } from "../../state/store";
import { Dialog } from "../kit/Dialog";

type Outcome = NonNullable<RunningCompression["outcome"]>;
type Made = Extract<Outcome, { outcome: "compressed" }>;

const PREVIEW = 200;
/** Characters of the summary that are shown (FR-2.4.3). */

interface Props {
  id: string;
  compression: RunningCompression;
  outcome: Outcome;
  close: () => void;
}

export function CompressionEnded({ id, compression, outcome, close }: Props) {
  if (outcome.outcome === "compressed") return <Success id={id} made={outcome} close={close} />;
  const { title, detail, hint } = reasonOf(outcome, compression.order.small);
  return (
    <Dialog
      title={title}
      onClose={close}
      actions={
        <>
          <button type="button" className="button" onClick={() => void compress(id, compression.order)}>
            Try again
          </button>
          <button type="button" className="button primary" onClick={close}>
            Go on without
          </button>
        </>
      }
    >
      <div role="alert" className="compression-reason">
        {detail && <p dir="auto">{detail}</p>}
        {hint && <p>{hint}</p>}
        <p>Nothing was changed: the whole history is still sent.</p>
      </div>
    </Dialog>
  );
}

function Success({ id, made, close }: { id: string; made: Made; close: () => void }) {
  const read = useStore((state) => (state.chat?.id === id ? state.chat.compression.read[made.snapshot.id] : undefined));
  const after = (run: () => void) => () => {
    close();
    run();
  };
  const preview = read && (read.full.summary || read.full.extracts.map((one) => one.text).join("\n"));
  return (
    <Dialog
      title={`${plural(made.messages, "message")} compressed`}
      onClose={close}
      actions={
        <>
          <button type="button" className="button" onClick={after(() => void undoCompression(id, made.snapshot))}>
            Undo
          </button>
          <button type="button" className="button" onClick={after(() => void showCompression(id))}>
            View
          </button>
          <button type="button" className="button primary" onClick={close}>
            Done
          </button>
        </>
      }
    >
      <p role="status" className="compression-saved">
        <b>{count(made.saved)}</b> tokens saved: {count(made.before)} → {count(made.after)}
      </p>
      <blockquote className="compression-preview" dir="auto">
        {preview === undefined ? "…" : [...preview].slice(0, PREVIEW).join("")}
        {preview !== undefined && [...preview].length > PREVIEW && "…"}
      </blockquote>
      {made.problems.map((one) => (
        <p key={one.detail} className="compression-warning">
          {one.detail}
        </p>
      ))}
    </Dialog>
  );
}
