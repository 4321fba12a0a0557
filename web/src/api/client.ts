/** Every call the page makes, one function each; nothing here knows about the state of the page. */

import { fetchBlob, request, upload, type Sending } from "./http";
import type {
  Caller,
  Conversation,
  Conversations,
  Costs,
  Document,
  Hits,
  Imported,
  Labels,
  Message,
  MessagePage,
  Messages,
  Models,
  PartIn,
  Settings,
  SettingsIn,
  Snapshots,
  Task,
  Tree,
  TurnIn,
  Usage,
} from "./types";

const chat = (id: string) => `conversations/${id}`;

export const readCaller = () => request<Caller>("GET", "me");
export const readCosts = () => request<Costs>("GET", "costs", { query: { by: "day" } });
export const listModels = () => request<Models>("GET", "models");

export interface Listing {
  title: string;
  label?: string;
  archived: boolean;
  limit: number;
  offset: number;
  deleted?: boolean;
}

export const listConversations = (query: Listing, signal?: AbortSignal) =>
  request<Conversations>("GET", "conversations", { query: { ...query }, ...(signal && { signal }) });
export const listLabels = () => request<Labels>("GET", "labels");
export const renameLabel = (label: string, name: string) =>
  request<Labels>("PATCH", "labels", { query: { label }, body: { name } });
export const removeLabel = (label: string) => request<void>("DELETE", "labels", { query: { label } });
/** The title stands until the model has written a better one. */
export const createConversation = (title: string, settings: SettingsIn) =>
  request<Conversation>("POST", "conversations", { body: { title, provisional: true, settings } });
/** The conversation that comes with Octavo, of the caller's own. */
export const openSample = () => request<Conversation>("POST", "sample");
export const importFile = (file: Blob, sending: Sending) => upload<Imported>("import", file, sending);
export const readDocument = (file: File, sending: Sending) =>
  upload<Document>(`documents?name=${encodeURIComponent(file.name)}`, file, sending);
export const readConversation = (id: string) => request<Conversation>("GET", chat(id));
export const changeConversation = (
  id: string,
  change: { title?: string; archived?: boolean; tip?: string; labels?: string[] },
) => request<Conversation>("PATCH", chat(id), { body: change });
/** With `undo`, it is out of sight at once and gone after so many seconds. */
export const deleteConversation = (id: string, undo: number) =>
  request<void>("DELETE", chat(id), { query: { undo }, keepalive: true });
export const undeleteConversation = (id: string) => request<Conversation>("POST", `${chat(id)}/undelete`);

export const listMessages = (id: string, query: { before?: string; limit: number }) =>
  request<MessagePage>("GET", `${chat(id)}/messages`, { query });
/** The whole of a message whose long text was shortened in a page. */
export const readMessage = (id: string, message: string) =>
  request<Message>("GET", `${chat(id)}/messages/${message}`);

/** The version of a message after it, or before it. */
export const listSibling = (id: string, message: string, step: 1 | -1) =>
  request<Messages>("GET", `${chat(id)}/messages/${message}/siblings`, {
    query: { [step > 0 ? "after" : "before"]: message, limit: 1 },
  });
export const readTree = (id: string) => request<Tree>("GET", `${chat(id)}/tree`);
/** A picture that was too large to come with its message. */
export const readPicture = (id: string, message: string, part: number) =>
  fetchBlob(`${chat(id)}/messages/${message}/parts/${part}`);
export const search = (q: string, limit: number, signal: AbortSignal) =>
  request<Hits>("GET", "search", { query: { q, limit }, signal });

/** Only the task is answered; its events are followed by `follow`, which can be resumed. */
export const beginTurn = (id: string, turn: TurnIn) =>
  request<Task>("POST", `${chat(id)}/turns`, { body: { ...turn, stream: false } });
export const cancelTurn = (id: string, task: string) =>
  request<void>("DELETE", `${chat(id)}/turns/${task}`);
export const turnEvents = (id: string, task: string) => `${chat(id)}/turns/${task}/events`;
export const conversationEvents = (id: string) => `${chat(id)}/events`;

export const readUsage = (id: string) => request<Usage>("GET", `${chat(id)}/usage`);
/** The meter with a message that is being written. */
export const readUsageWith = (id: string, content: string | PartIn[], signal: AbortSignal) =>
  request<Usage>("POST", `${chat(id)}/usage`, { body: { content }, signal });
/** The meter under settings that are thought about. */
export const tryUsage = (id: string, settings: SettingsIn, signal: AbortSignal) =>
  request<Usage>("POST", `${chat(id)}/usage`, { body: { settings }, signal });
export const listSnapshots = (id: string) => request<Snapshots>("GET", `${chat(id)}/snapshots`);
export const readSettings = (id: string) => request<Settings>("GET", `${chat(id)}/settings`);
export const changeSettings = (id: string, change: SettingsIn) =>
  request<Settings>("PATCH", `${chat(id)}/settings`, { body: change });
