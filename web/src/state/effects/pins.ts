/** Pins: messages, or words of them, that are always sent byte for byte. */

import * as api from "../../api/compression";
import { sourceOf } from "../../lib/source";
import { dispatch } from "../store";
import type { ShownMessage } from "../types";
import { loadMeter } from "./chat";
import { report, toast } from "./toast";

export async function loadPins(id: string): Promise<void> {
  dispatch({ type: "chat/pinned", id, pins: (await api.listPins(id)).pins });
}

/** Pin a message, or the words of it that were selected on screen. */
export async function pin(id: string, message: ShownMessage, selected = ""): Promise<void> {
  const selection = selected ? sourceOf(message.text, selected) : "";
  if (selection === null) {
    toast({ tone: "info", text: "These words cannot be pinned", detail: "Select words of one message, as it was written." });
    return;
  }
  await pinWords(id, message.id, selection);
}

/** Pin words as the message has them; all of it without any. */
export async function pinWords(id: string, message: string, selection: string): Promise<void> {
  await change(id, async () => {
    dispatch({ type: "chat/pinned", id, pins: (await api.addPin(id, message, selection)).pins });
    toast({
      tone: "success",
      text: selection ? "The selection is pinned" : "The message is pinned",
      detail: "It is sent word for word from now on.",
      action: { label: "Undo", run: () => void unpin(id, message) },
    });
  });
}

export async function unpin(id: string, message: string): Promise<void> {
  await change(id, async () => {
    await api.removePins(id, message);
    await loadPins(id);
  });
}

async function change(id: string, call: () => Promise<void>): Promise<void> {
  try {
    await call();
    await loadMeter(id);
  } catch (error) {
    report(error);
  }
}
