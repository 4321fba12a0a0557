/** Conversations as files: bring them in, and read one whole to write it out. */

import * as api from "../../api/client";
import { fetchBlob } from "../../api/http";
import type { Conversation, Message } from "../../api/types";
import { count, plural } from "../../lib/format";
import { isShortened } from "../../lib/shortened";
import { loadConversations, titleOf } from "./conversations";
import { go } from "./route";
import { tellTabs } from "./tabs";
import { dismiss, report, tellProgress, toast } from "./toast";

const PAGE = 1_000;
/** Messages asked for at a time: as many as the server gives. */
const NAMES = 2;
/** Titles that a line or two hold. */
const NAMED = /\.jsonl$|\.zip$|^conversations\.json$/i;

/** Whether a file that is dropped is meant to be imported: the names under which programs write conversations. */
export const isExport = (file: File): boolean => NAMED.test(file.name);

/** Bring in what ChatGPT, Claude or Octavo wrote; all of a file, or nothing. */
export async function importFile(file: File): Promise<void> {
  const working = toast({ tone: "info", text: "Reading conversations…", detail: file.name, progress: 0 });
  try {
    const { conversations } = await api.importFile(file, { progress: (share) => tellProgress(working, share) });
    await loadConversations("", false);
    tellTabs();
    const messages = conversations.reduce((sum, one) => sum + one.messages, 0);
    const first = conversations[0];
    toast({
      tone: "success",
      text: `${plural(conversations.length, "conversation")} came in`,
      detail: `${plural(messages, "message")}: ${titlesOf(conversations)}`,
      ...(first && { action: { label: "Open", run: () => go({ name: "chat", id: first.id }) } }),
    });
  } catch (error) {
    report(error);
  } finally {
    dismiss(working);
  }
}

/** The first of them by name, and how many others there are. */
function titlesOf(conversations: Conversation[]): string {
  const named = conversations.slice(0, NAMES).map((one) => `“${titleOf(one)}”`);
  const others = conversations.length - named.length;
  return [...named, ...(others > 0 ? [`${count(others)} more`] : [])].join(", ");
}

/** All messages of the branch that is shown, oldest first, each whole; null when there was trouble. */
export async function readAll(id: string): Promise<Message[] | null> {
  try {
    const all: Message[] = [];
    let before: string | null = null;
    do {
      const page = await api.listMessages(id, before ? { before, limit: PAGE } : { limit: PAGE });
      all.unshift(...page.messages);
      before = page.before;
    } while (before);
    return await Promise.all(all.map((one) => (isShortened(one.text) ? api.readMessage(id, one.id) : one)));
  } catch (error) {
    report(error);
    return null;
  }
}

/** Everything that belongs to a conversation, as Octavo reads it again. */
export async function readExport(conversation: Conversation): Promise<Blob | null> {
  try {
    return await fetchBlob(`conversations/${conversation.id}/export`);
  } catch (error) {
    report(error);
    return null;
  }
}
