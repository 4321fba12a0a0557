/** Branches: write a message anew, go from one version to another, show another branch. */

import * as api from "../../api/client";
import type { PartIn } from "../../api/types";
import { entryOf, remember } from "../../lib/entries";
import type { Editing } from "../../lib/entry";
import { expanded, type Draft } from "../../lib/longtext";
import { dispatch, state } from "../store";
import type { ShownMessage } from "../types";
import { refresh } from "./chat";
import { report, toast } from "./toast";
import { contentOf, startTurn } from "./turns";

/** Open a message of one's own for writing; the page may hold the beginning only, so all of it is asked for. */
export async function beginEdit(id: string, message: string): Promise<void> {
  try {
    const whole = await api.readMessage(id, message);
    const others = whole.parts.filter((part) => part.type === "image" || part.type === "attachment") as PartIn[];
    dispatch({ type: "chat/editing", id, editing: { message, was: whole.text, draft: entryOf(whole.text), others } });
  } catch (error) {
    report(error);
  }
}

export function editLast(): void {
  const chat = state().chat;
  const last = chat?.messages.findLast((one) => one.role === "user");
  if (chat && last && !chat.turn) void beginEdit(chat.id, last.id);
}

export function changeEdit(id: string, draft: Draft): void {
  const editing = state().chat?.editing;
  if (editing) dispatch({ type: "chat/editing", id, editing: { ...editing, draft } });
}

const closeEdit = (id: string): void => dispatch({ type: "chat/editing", id, editing: null });

/** Leave a message as it is; what was written meanwhile can be taken up again. */
export function cancelEdit(id: string, editing: Editing): void {
  closeEdit(id);
  if (expanded(editing.draft) === editing.was) return;
  const again = () => {
    if (state().chat?.id === id) dispatch({ type: "chat/editing", id, editing });
  };
  toast({ tone: "info", text: "The message stays as it was", action: { label: "Go on editing", run: again } });
}

/** Store the new version beside the old one and have it answered. */
export async function sendEdit(id: string, editing: Editing): Promise<void> {
  const chat = state().chat;
  const old = chat?.messages.find((one) => one.id === editing.message);
  if (!chat || !old || chat.turn) return;
  const text = expanded(editing.draft);
  closeEdit(id);
  if (text === editing.was) return;
  dispatch({ type: "chat/rewound", id, to: old.parent });
  if (await startTurn(id, { content: contentOf(text, editing.others), edits: old.id }, text)) {
    remember(editing.draft);
    return;
  }
  await refresh(id);
  dispatch({ type: "chat/editing", id, editing });
}

/** Show the version of a message before or after the one that is shown; gives which. */
export async function switchSibling(id: string, message: ShownMessage, step: 1 | -1): Promise<string | null> {
  try {
    const { messages } = await api.listSibling(id, message.id, step);
    const wanted = messages[0];
    if (wanted) await checkout(id, wanted.id);
    return wanted?.id ?? null;
  } catch (error) {
    report(error);
    return null;
  }
}

/** Show the branch through a message. */
export async function checkout(id: string, message: string): Promise<void> {
  try {
    await api.changeConversation(id, { tip: message });
    // Before its rows are there: they are not to be scrolled past.
    dispatch({ type: "chat/target", id, message });
    await refresh(id);
  } catch (error) {
    report(error);
  }
}
