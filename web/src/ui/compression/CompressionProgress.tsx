/** A compression at work: what it covers, and its words as they come. */

import { useEffect, useRef } from "react";
import { count, plural } from "../../lib/format";
import { cancelCompression } from "../../state/effects/compression";
import type { RunningCompression } from "../../state/compression";
import { Markdown } from "../chat/Markdown";
import { closeDialog, Dialog } from "../kit/Dialog";

export function CompressionProgress({ id, compression }: { id: string; compression: RunningCompression }) {
  const { covers, text, stopping } = compression;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In braces: browsers may give a promise, which is no clean-up.
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [text]);
  return (
    <Dialog
      title="Summarizing…"
      actions={
        <>
          <button type="button" className="button" onClick={closeDialog}>
            Go on chatting
          </button>
          <button
            type="button"
            className="button"
            disabled={stopping || !compression.task}
            onClick={() => void cancelCompression(id)}
          >
            {stopping ? "Cancelling…" : "Cancel"}
          </button>
        </>
      }
    >
      <p role="status">
        {covers ? `${plural(covers.messages, "message")}, ${count(covers.tokens)} tokens` : "Getting ready…"}
      </p>
      <progress className="compression-bar" aria-label="Summarizing" />
      {text && (
        <div ref={box} className="compression-stream" tabIndex={0} role="group" aria-label="The summary so far">
          <Markdown text={text} />
        </div>
      )}
    </Dialog>
  );
}
