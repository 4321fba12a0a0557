/** The open conversation. */

import type { ChannelEvent, TaskEvent } from "../../api/events";
import type { Chat, ChatAction } from "../types";
import { COMPRESSION_VIEW } from "../compression";
import { reduceCompressionView } from "./compression";
import { cutAt, place, renew } from "./messages";
import { newTurn, reduceTurn } from "./turn";

export function openChat(id: string, info: Chat["info"]): Chat {
  return {
    id,
    status: "loading",
    info,
    messages: [],
    before: null,
    older: "idle",
    usage: null,
    drafted: null,
    settings: null,
    snapshots: null,
    pending: null,
    turn: null,
    failure: null,
    preparing: false,
    compression: COMPRESSION_VIEW,
    editing: null,
    known: false,
    target: null,
  };
}

const NO_END = { end: undefined };

export function reduceChat(chat: Chat, action: ChatAction): Chat {
  switch (action.type) {
    case "chat/missing":
      return { ...chat, status: "missing" };
    case "chat/info":
      return { ...chat, info: action.info };
    case "chat/loaded": {
      const running = chat.turn !== null;
      return { ...chat, status: "ready", ...renew(chat.messages, chat.before, cutAt(action.page, chat.end), running) };
    }
    case "chat/olderAsked":
      return { ...chat, older: "loading" };
    case "chat/olderLoaded": {
      const known = new Set(chat.messages.map((one) => one.id));
      const older = action.page.messages.filter((one) => !known.has(one.id));
      return { ...chat, older: "idle", messages: [...older, ...chat.messages], before: action.page.before };
    }
    case "chat/message":
      return { ...chat, messages: place(chat.messages, action.message) };
    case "chat/rewound": {
      const at = chat.messages.findIndex((one) => one.id === action.to);
      return { ...chat, messages: chat.messages.slice(0, at + 1), failure: null, end: action.to, target: null };
    }
    case "chat/usage":
      return { ...chat, usage: action.usage };
    case "chat/drafted":
      return { ...chat, drafted: action.usage };
    case "chat/settings":
      return { ...chat, settings: action.settings };
    case "chat/snapshots":
      return { ...chat, snapshots: action.snapshots };
    case "chat/sent":
      return { ...chat, pending: action.text, failure: null, target: null, drafted: null };
    case "chat/failed":
      return { ...chat, failure: action.trouble, pending: null, ...NO_END };
    case "chat/editing":
      return { ...chat, editing: action.editing };
    case "chat/target":
      return { ...chat, target: action.message ? { message: action.message } : null };
    case "chat/heard":
      return hear(chat, action.told);
    case "turn/followed":
      return chat.turn?.task === action.task ? chat : { ...chat, turn: newTurn(action.task), failure: null };
    case "turn/told":
      return chat.turn?.task === action.task ? tell(chat, action.told) : chat;
    case "turn/stopping":
      return chat.turn ? { ...chat, turn: { ...chat.turn, stopping: true } } : chat;
    case "chat/compressionOpened":
    case "chat/originalsShown":
    case "chat/summaryEditing":
    case "chat/snapshotRead":
    case "chat/pinned":
      return { ...chat, compression: reduceCompressionView(chat.compression, action) };
    case "chat/opened":
      return chat;
  }
}

function hear(chat: Chat, told: ChannelEvent): Chat {
  switch (told.event) {
    case "state":
    case "changed": {
      const { jobs, deleted } = told.data;
      const status = deleted ? "deleted" : chat.status === "deleted" ? "ready" : chat.status;
      const sure = told.event === "state" || told.data.what.includes("jobs");
      const known = chat.known || told.event === "state";
      return { ...chat, status, known, preparing: sure ? jobs.length > 0 : chat.preparing };
    }
    case "compression_started":
      return told.data.urgency === "soft" ? { ...chat, preparing: true } : chat;
    case "preparing":
      return { ...chat, preparing: true };
    case "compression_ended":
      return { ...chat, preparing: false };
    default:
      return chat;
  }
}

function tell(chat: Chat, told: TaskEvent): Chat {
  const turn = chat.turn ? reduceTurn(chat.turn, told) : null;
  switch (told.event) {
    case "stored":
      return { ...chat, ...NO_END, turn, pending: null, messages: place(chat.messages, told.data.message) };
    case "recalled": {
      const { message, passages } = told.data;
      const messages = chat.messages.map((one) => (one.id === message ? { ...one, recalled: passages } : one));
      return { ...chat, turn, messages };
    }
    case "sending":
      return { ...chat, turn, usage: told.data.usage };
    case "answered": {
      const answer = { ...told.data.message, cut: told.data.reply?.finish === "length", left_out: turn?.notes ?? [] };
      return { ...chat, ...NO_END, turn: null, messages: place(chat.messages, answer) };
    }
    case "failed": {
      const { message, hint = "", retryable, partial } = told.data;
      const messages = partial ? place(chat.messages, partial) : chat.messages;
      return { ...chat, ...NO_END, turn: null, pending: null, messages, failure: { message, hint, retryable } };
    }
    case "done":
      return { ...chat, ...NO_END, turn: null, pending: null };
    default:
      return { ...chat, turn };
  }
}
