/** Compressions, event by event, and what is shown of them. */

import type { TaskEvent } from "../../api/events";
import type { FoldAction, Folding, Foldings, FoldView, FoldViewAction } from "../fold";

export function reduceFoldings(foldings: Foldings, action: FoldAction): Foldings {
  if (action.type === "fold/begun")
    return { ...foldings, [action.id]: begun(action.order, action.task) };
  const one = foldings[action.id];
  if (!one) return foldings;
  if (action.type === "fold/cleared") {
    const { [action.id]: _, ...others } = foldings;
    return others;
  }
  return { ...foldings, [action.id]: reduceFolding(one, action) };
}

const begun = (order: Folding["order"], task: string | null): Folding => ({
  order,
  task,
  covers: null,
  text: "",
  stopping: false,
  outcome: null,
});

function reduceFolding(one: Folding, action: FoldAction): Folding {
  switch (action.type) {
    case "fold/started":
      return { ...one, task: action.task };
    case "fold/stopping":
      return { ...one, stopping: true };
    case "fold/failed":
      return { ...one, outcome: { outcome: "error", message: action.message, hint: action.hint } };
    case "fold/told":
      return one.task === action.task ? tell(one, action.told) : one;
    default:
      return one;
  }
}

function tell(one: Folding, told: TaskEvent): Folding {
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

export function reduceFoldView(view: FoldView, action: FoldViewAction): FoldView {
  switch (action.type) {
    case "chat/foldOpened":
      return { ...view, open: action.open };
    case "chat/originalsShown":
      return { ...view, originals: action.shown };
    case "chat/snapshotRead":
      return { ...view, read: { ...view.read, [action.read.full.id]: action.read } };
    case "chat/pinned":
      return { ...view, pins: action.pins };
  }
}
