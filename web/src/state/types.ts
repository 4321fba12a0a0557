/** The whole state of the page, and everything that can happen to it. Nothing here does anything. */

import type { Again, ChannelEvent, TaskEvent } from "../api/events";
import type {
  Conversation,
  Message,
  MessagePage,
  Models,
  Settings,
  Snapshot,
  Snapshots,
  StoredMessage,
  Usage,
} from "../api/types";
import type { Editing, Extras } from "../lib/entry";
import type { Upload } from "../lib/upload";
import type { CompressionAction, RunningCompressions, CompressionView, CompressionViewAction } from "./compression";

export type Route = { name: "home" } | { name: "chat"; id: string };

/** A message on screen; one that was just told by an event lacks what only the store knows. */
export type ShownMessage = StoredMessage & Partial<Message>;

/** What went wrong, as it is shown next to where it went wrong. */
export interface Trouble {
  message: string;
  hint: string;
  retryable: boolean;
  /** Nothing was stored: what was said is in the input again. */
  unsent?: boolean;
}

export interface ConversationList {
  items: Conversation[];
  more: boolean;
  query: string;
  archived: boolean;
  /** Only those with this label; empty: all. */
  label: string;
  labels: string[];
  status: "loading" | "ready" | "failed";
  /** Deleted, but not yet gone; shown with the archived ones. */
  deleted: Conversation[];
}

/** An answer in the making. */
export interface Turn {
  task: string;
  phase: "waiting" | "compressing" | "writing";
  text: string;
  reasoning: string;
  stopping: boolean;
  /** The compression that happens before the answer, if one does. */
  compression: { messages: number; tokens: number; text: string } | null;
  /** The provider failed and is asked again; until it answers. */
  again: Again | null;
  /** What was left out of the request besides compressing. */
  notes: string[];
}

export interface Chat {
  id: string;
  status: "loading" | "ready" | "deleted" | "missing";
  info: Conversation | null;
  messages: ShownMessage[];
  /** With it older messages are asked for; null when the first is on screen. */
  before: string | null;
  older: "idle" | "loading";
  usage: Usage | null;
  /** The meter with what stands in the input; null while nothing does. */
  drafted: Usage | null;
  settings: Settings | null;
  snapshots: Snapshots | null;
  /** What was sent and is not stored yet. */
  pending: string | null;
  turn: Turn | null;
  failure: Trouble | null;
  /** A compression is being prepared in the background. */
  preparing: boolean;
  /** What is shown of compressions. */
  compression: CompressionView;
  /** A message of one's own that is being written anew. */
  editing: Editing | null;
  /** While something is said anew: the message it goes below; null is the beginning. What was below it is not shown. */
  end?: string | null | undefined;
  /** The channel has told which turns run: until then a question without an answer may be on its way to one. */
  known: boolean;
  /** The message that is to be brought into sight. */
  target: { message: string } | null;
}

export interface Toast {
  id: number;
  tone: "info" | "success" | "error";
  text: string;
  detail?: string;
  action?: { label: string; run: () => void };
  /** How much of something is done, from 0 to 1: it stays until that has ended. */
  progress?: number;
}

export type SettingsTab = "conversation" | "model" | "everything" | "cards" | "keys" | "costs" | "appearance";
export type HistoryView = "all" | "sent";

/** Which dialog is open. To add one: a case here, and its component in `ui/dialogs/Dialogs.tsx`. */
export type Dialog =
  | { kind: "key"; reason: string }
  | { kind: "shortcuts" }
  | { kind: "settings"; tab: SettingsTab }
  | { kind: "history"; id: string; view: HistoryView }
  | { kind: "find" }
  | { kind: "branches" }
  | { kind: "labels"; conversation: Conversation }
  | { kind: "compress"; id: string; focus: string }
  | { kind: "regenerate"; id: string; snapshot: Snapshot };

export interface State {
  route: Route;
  /** Whether the server is there. */
  online: boolean;
  sidebar: boolean;
  conversations: ConversationList;
  models: Models | null;
  /** The model for the next new conversation; null: the server's default. */
  chosen: string | null;
  chat: Chat | null;
  /** Compressions that were asked for, by conversation, until their end was seen. */
  compressions: RunningCompressions;
  /** What is in the input of each conversation; `new` is the one not made yet. */
  drafts: Readonly<Record<string, string>>;
  /** What stands behind the text of an input: long pastes and files. */
  extras: Readonly<Record<string, Extras>>;
  /** Files of an input that are on their way. */
  uploads: Readonly<Record<string, readonly Upload[]>>;
  dialog: Dialog | null;
  toasts: Toast[];
}

export type Action =
  | { type: "route/changed"; route: Route }
  | { type: "connection/changed"; online: boolean }
  | { type: "sidebar/toggled"; open: boolean }
  | { type: "dialog/opened"; dialog: Dialog }
  | { type: "dialog/closed" }
  | { type: "toast/added"; toast: Toast }
  | { type: "toast/progress"; id: number; progress: number }
  | { type: "toast/removed"; id: number }
  | { type: "models/loaded"; models: Models }
  | { type: "models/chosen"; model: string | null }
  | { type: "draft/changed"; key: string; text: string }
  | { type: "draft/extras"; key: string; extras: Extras }
  | { type: "draft/uploads"; key: string; uploads: readonly Upload[] }
  | { type: "conversations/asked"; query: string; archived: boolean }
  | { type: "conversations/loaded"; items: Conversation[]; more: boolean; append: boolean; deleted: Conversation[] }
  | { type: "conversations/label"; label: string }
  | { type: "conversations/labels"; labels: string[] }
  | { type: "conversations/failed" }
  | { type: "conversations/changed"; conversation: Conversation }
  | { type: "conversations/removed"; id: string }
  | CompressionAction
  | ChatAction;

/** What happens to one conversation; ignored unless that one is open. */
export type ChatAction =
  | { type: "chat/opened"; id: string; info: Conversation | null }
  | { type: "chat/missing"; id: string }
  | { type: "chat/info"; id: string; info: Conversation }
  | { type: "chat/loaded"; id: string; page: MessagePage }
  | { type: "chat/olderAsked"; id: string }
  | { type: "chat/olderLoaded"; id: string; page: MessagePage }
  | { type: "chat/message"; id: string; message: Message }
  | { type: "chat/rewound"; id: string; to: string | null }
  | { type: "chat/usage"; id: string; usage: Usage | null }
  | { type: "chat/drafted"; id: string; usage: Usage | null }
  | { type: "chat/settings"; id: string; settings: Settings }
  | { type: "chat/snapshots"; id: string; snapshots: Snapshots }
  | { type: "chat/sent"; id: string; text: string | null }
  | { type: "chat/failed"; id: string; trouble: Trouble | null }
  | { type: "chat/editing"; id: string; editing: Editing | null }
  | { type: "chat/target"; id: string; message: string | null }
  | { type: "chat/heard"; id: string; told: ChannelEvent }
  | { type: "turn/followed"; id: string; task: string }
  | { type: "turn/told"; id: string; task: string; told: TaskEvent }
  | { type: "turn/stopping"; id: string }
  | CompressionViewAction;

export const INITIAL: State = {
  route: { name: "home" },
  online: true,
  sidebar: false,
  conversations: { items: [], more: false, query: "", archived: false, label: "", labels: [], status: "loading", deleted: [] },
  models: null,
  chosen: null,
  chat: null,
  compressions: {},
  drafts: {},
  extras: {},
  uploads: {},
  dialog: null,
  toasts: [],
};
