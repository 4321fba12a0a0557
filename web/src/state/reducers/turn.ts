/** An answer in the making, event by event. Events may be told again after a lost connection. */

import type { TaskEvent } from "../../api/events";
import type { Turn } from "../types";

export function newTurn(task: string): Turn {
  return { task, phase: "waiting", text: "", reasoning: "", stopping: false, compression: null, again: null, notes: [] };
}

export function reduceTurn(turn: Turn, told: TaskEvent): Turn {
  switch (told.event) {
    case "compression_started": {
      const { messages, tokens } = told.data;
      return { ...turn, phase: "compressing", compression: { messages, tokens, text: "" } };
    }
    case "summary_restarted":
    case "summary_text": {
      const { compression } = turn;
      if (!compression) return turn;
      const text = told.event === "summary_text" ? compression.text + told.data.text : "";
      return { ...turn, compression: { ...compression, text } };
    }
    case "waiting":
      return { ...turn, phase: "compressing" };
    case "sending":
    case "compression_ended":
      return { ...turn, phase: "waiting", compression: null };
    case "shrunk":
      return { ...turn, notes: told.data.notes };
    case "retrying":
      return { ...turn, again: told.data };
    case "text":
      return told.data.kind === "reasoning"
        ? { ...turn, phase: "writing", again: null, reasoning: turn.reasoning + told.data.text }
        : { ...turn, phase: "writing", again: null, text: turn.text + told.data.text };
    case "text_restarted":
      return { ...turn, text: "", reasoning: "" };
    default:
      return turn;
  }
}
