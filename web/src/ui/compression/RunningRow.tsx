/** A compression at work, where it will stand: its words as they come, and Cancel; or why it made nothing. */

import { useEffect, useRef } from "react";
import { count, plural } from "../../lib/format";
import { reasonOf } from "../../lib/outcome";
import { withTitle } from "../../lib/provider";
import { cancelCompression, compress, forgetCompression } from "../../state/effects/compression";
import type { RunningCompression } from "../../state/compression";
import { useStore } from "../../state/store";
import { Markdown } from "../chat/Markdown";
import { Icon } from "../kit/Icon";

export function RunningRow({ id, compression }: { id: string; compression: RunningCompression }) {
  const { covers, text, stopping, outcome } = compression;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In braces: browsers may give a promise, which is no clean-up.
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [text]);
  if (outcome && outcome.outcome !== "compressed") return <Ended id={id} compression={compression} outcome={outcome} />;
  return (
    <section className="compression card running" aria-label="Compressing" aria-busy="true">
      <div className="compression-head">
        <p className="compression-line" role="status">
          <Icon name="compress" />
          <span className="compression-what">
            <b>{covers ? `Compressing ${plural(covers.messages, "message")}` : "Compressing"}…</b>
            {covers && <> {count(covers.tokens)} tokens</>}
          </span>
        </p>
        <button
          type="button"
          className="button quiet small"
          disabled={stopping || !compression.task}
          onClick={() => void cancelCompression(id)}
        >
          {stopping ? "Cancelling…" : "Cancel"}
        </button>
      </div>
      <progress className="compression-bar" aria-label="Compressing" />
      {text && (
        <div ref={box} className="compression-stream" tabIndex={0} role="group" aria-label="The summary so far">
          <Markdown text={text} />
        </div>
      )}
    </section>
  );
}

type Unmade = Exclude<NonNullable<RunningCompression["outcome"]>, { outcome: "compressed" }>;

function Ended({ id, compression, outcome }: { id: string; compression: RunningCompression; outcome: Unmade }) {
  const { title, detail, hint } = reasonOf(outcome, compression.order.small);
  const models = useStore((state) => state.models);
  return (
    <div className="failure" role="alert" aria-label={title}>
      <div>
        <strong>{title}</strong>
        {detail && <p dir="auto">{withTitle(detail, models)}</p>}
        {hint && <p>{hint}</p>}
        <p>Nothing was changed: the whole history is still sent.</p>
      </div>
      <div className="compression-again">
        <button type="button" className="button small" onClick={() => void compress(id, compression.order)}>
          Try again
        </button>
        <button type="button" className="button small" onClick={() => forgetCompression(id)}>
          Go on without
        </button>
      </div>
    </div>
  );
}
