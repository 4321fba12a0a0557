/** The list at the side: load, search, rename, archive, and delete with a while to think better of it. */

import * as api from "../../api/client";
import type { Conversation } from "../../api/types";
import { dispatch, state } from "../store";
import { go } from "./route";
import { tellTabs } from "./tabs";
import { report, toast } from "./toast";

const PAGE = 60;
/** Conversations asked for at a time: more than a tall screen shows. */
const MOST = 1_000;
/** As many as the server gives at a time. */
const UNDO_SECONDS = 24 * 3_600;
/** A day: long enough to notice that it was the wrong one. */

let asking = new AbortController();

export async function loadConversations(query: string, archived: boolean, append = false): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  if (!append) dispatch({ type: "conversations/asked", query, archived });
  const shown = state().conversations.items.length;
  const title = query.trim();
  const { label } = state().conversations;
  const [offset, limit] = append ? [shown, PAGE] : [0, Math.min(MOST, Math.max(PAGE, shown))];
  try {
    const [found, waiting] = await Promise.all([
      api.listConversations({ title, label, archived, limit, offset }, signal),
      archived ? api.listConversations({ title, label, archived, limit: PAGE, offset: 0, deleted: true }, signal) : null,
    ]);
    const deleted = waiting?.conversations ?? [];
    dispatch({ type: "conversations/loaded", items: found.conversations, more: found.more, append, deleted });
  } catch (error) {
    if (signal.aborted) return;
    dispatch({ type: "conversations/failed" });
    report(error);
  }
}

/** What was done to other conversations elsewhere is told by no event. */
export function reloadConversations(): Promise<void> {
  const { query, archived } = state().conversations;
  return loadConversations(query, archived);
}

/** Show only conversations with a label; empty: all. */
export function chooseLabel(label: string): Promise<void> {
  dispatch({ type: "conversations/label", label });
  return reloadConversations();
}

export async function loadLabels(): Promise<void> {
  try {
    const labels = (await api.listLabels()).labels.map((one) => one.name);
    dispatch({ type: "conversations/labels", labels });
    const { label } = state().conversations;
    if (label && !labels.includes(label)) await chooseLabel("");
  } catch (error) {
    report(error);
  }
}

export async function labelConversation(id: string, labels: string[]): Promise<void> {
  await change(id, { labels });
  await loadLabels();
}

/** Rename a label wherever it is, or take it off with null. */
export async function changeLabel(label: string, name: string | null): Promise<void> {
  try {
    await (name === null ? api.removeLabel(label) : api.renameLabel(label, name));
    if (name !== null && state().conversations.label === label) dispatch({ type: "conversations/label", label: name });
    await Promise.all([loadLabels(), reloadConversations()]);
    tellTabs();
  } catch (error) {
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

async function change(id: string, what: { title?: string; archived?: boolean; labels?: string[] }): Promise<void> {
  try {
    const conversation = await api.changeConversation(id, what);
    dispatch({ type: "conversations/changed", conversation });
    dispatch({ type: "chat/info", id, info: conversation });
    tellTabs();
    if (conversation.deleted) tellDeleted(conversation, "Still deleted", "Bring back");
  } catch (error) {
    report(error);
  }
}

/** Out of sight at once; the server deletes it in a while, also when this page is gone by then. */
export async function deleteConversation(conversation: Conversation): Promise<void> {
  const { id } = conversation;
  if (!(await remove(id, UNDO_SECONDS))) return;
  const { route } = state();
  if (route.name === "chat" && route.id === id) go({ name: "home" });
  tellDeleted(conversation, "Deleted", "Undo");
}

function tellDeleted(conversation: Conversation, text: string, label: string): void {
  const action = { label, run: () => void bringBack(conversation.id) };
  toast({ tone: "info", text, detail: titleOf(conversation), action });
}

export const deleteForGood = (id: string): Promise<boolean> => remove(id, 0);

async function remove(id: string, undo: number): Promise<boolean> {
  try {
    await api.deleteConversation(id, undo);
    dispatch({ type: "conversations/removed", id });
    tellTabs();
    if (state().conversations.archived) void reloadConversations();
    return true;
  } catch (error) {
    report(error);
    return false;
  }
}

export async function bringBack(id: string): Promise<void> {
  try {
    dispatch({ type: "conversations/changed", conversation: await api.undeleteConversation(id) });
    tellTabs();
    if (state().conversations.archived) void reloadConversations();
  } catch (error) {
    report(error);
  }
}

export function titleOf(conversation: Conversation | null): string {
  return conversation?.title.trim() || "Untitled";
}
