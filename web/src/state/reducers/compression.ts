/** Compressions, event by event, and what is shown of them. */

import type { TaskEvent } from "../../api/events";
import type { CompressionAction, RunningCompression, RunningCompressions, CompressionView, CompressionViewAction } from "../compression";

export function reduceCompressions(compressions: RunningCompressions, action: CompressionAction): RunningCompressions {
  if (action.type === "compression/begun")
    return { ...compressions, [action.id]: begun(action.order, action.task) };
  const one = compressions[action.id];
  if (!one) return compressions;
  if (action.type === "compression/cleared") {
    const { [action.id]: _, ...others } = compressions;
    return others;
  }
  return { ...compressions, [action.id]: reduceCompression(one, action) };
}

const begun = (order: RunningCompression["order"], task: string | null): RunningCompression => ({
  order,
  task,
  covers: null,
  text: "",
  stopping: false,
  outcome: null,
});

function reduceCompression(one: RunningCompression, action: CompressionAction): RunningCompression {
  switch (action.type) {
    case "compression/started":
      return { ...one, task: action.task };
    case "compression/stopping":
      return { ...one, stopping: true };
    case "compression/failed":
      return { ...one, outcome: { outcome: "error", message: action.message, hint: action.hint } };
    case "compression/told":
      return one.task === action.task ? tell(one, action.told) : one;
    default:
      return one;
  }
}

function tell(one: RunningCompression, told: TaskEvent): RunningCompression {
  switch (told.event) {
    case "compression_started":
      return { ...one, covers: { messages: told.data.messages, tokens: told.data.tokens }, text: "" };
    case "summary_restarted":
      return { ...one, text: "" };
    case "summary_text":
      return { ...one, text: one.text + told.data.text };
    case "compression_ended":
      return { ...one, outcome: told.data };
    case "cancelled":
      return { ...one, outcome: { outcome: "cancelled" } };
    case "failed":
      return { ...one, outcome: { outcome: "error", message: told.data.message, hint: told.data.hint ?? "" } };
    case "done":
      return one.outcome ? one : { ...one, outcome: { outcome: "cancelled" } };
    default:
      return one;
  }
}

export function reduceCompressionView(view: CompressionView, action: CompressionViewAction): CompressionView {
  switch (action.type) {
    case "chat/compressionOpened":
      return { ...view, open: action.open, editing: action.open && view.editing };
    case "chat/summaryEditing":
      return { ...view, editing: action.editing };
    case "chat/originalsShown":
      return { ...view, originals: action.shown };
    case "chat/snapshotRead":
      return { ...view, read: { ...view.read, [action.read.full.id]: action.read } };
    case "chat/pinned":
      return { ...view, pins: action.pins };
  }
}
