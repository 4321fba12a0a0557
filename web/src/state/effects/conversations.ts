/** The list at the side: load, search, rename, archive, and delete with a while to think better of it. */

import * as api from "../../api/client";
import type { Conversation } from "../../api/types";
import { dispatch, state } from "../store";
import { go } from "./route";
import { report, toast } from "./toast";

const PAGE = 60;
/** Conversations asked for at a time: more than a tall screen shows. */

let asking = new AbortController();

export async function loadConversations(query: string, archived: boolean, append = false): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  if (!append) dispatch({ type: "conversations/asked", query, archived });
  const offset = append ? state().conversations.items.length : 0;
  try {
    const found = await api.listConversations({ title: query.trim(), archived, limit: PAGE, offset }, signal);
    dispatch({ type: "conversations/loaded", items: found.conversations, more: found.more, append });
  } catch (error) {
    if (signal.aborted) return;
    dispatch({ type: "conversations/failed" });
    report(error);
  }
}

export async function renameConversation(conversation: Conversation, title: string): Promise<void> {
  if (title === conversation.title) return;
  await change(conversation.id, { title });
}

export async function archiveConversation(conversation: Conversation, archived: boolean): Promise<void> {
  await change(conversation.id, { archived });
  toast({
    tone: "info",
    text: archived ? "Archived" : "Back in the list",
    detail: titleOf(conversation),
    action: { label: "Undo", run: () => void change(conversation.id, { archived: !archived }) },
  });
}

async function change(id: string, what: { title?: string; archived?: boolean }): Promise<void> {
  try {
    const conversation = await api.changeConversation(id, what);
    dispatch({ type: "conversations/changed", conversation });
    dispatch({ type: "chat/info", id, info: conversation });
  } catch (error) {
    report(error);
  }
}

/** Hide it at once; delete it when the offer to undo has gone. */
export function deleteConversation(conversation: Conversation): void {
  const { id } = conversation;
  dispatch({ type: "conversations/hidden", id, hidden: true });
  if (state().chat?.id === id) go({ name: "home" });
  toast({
    tone: "info",
    text: "Deleted",
    detail: titleOf(conversation),
    action: { label: "Undo", run: () => dispatch({ type: "conversations/hidden", id, hidden: false }) },
    ended: () => void reallyDelete(id),
  });
}

async function reallyDelete(id: string): Promise<void> {
  try {
    await api.deleteConversation(id);
    dispatch({ type: "conversations/removed", id });
  } catch (error) {
    dispatch({ type: "conversations/hidden", id, hidden: false });
    report(error);
  }
}

/** The page goes away: what was deleted is deleted now, since nobody can undo it any more. */
export function deleteHidden(): void {
  for (const id of state().conversations.hidden) void api.deleteConversation(id, true).catch(() => undefined);
}

export function titleOf(conversation: Conversation | null): string {
  return conversation?.title.trim() || "Untitled";
}
