/** From one state to the next. Pure: what is to be done about it is in `effects`. */

import type { Models } from "../api/types";
import { openChat, reduceChat } from "./reducers/chat";
import { reduceConversations } from "./reducers/conversations";
import { reduceCompressions } from "./reducers/compression";
import type { Action, Chat, State } from "./types";

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "route/changed":
      return { ...state, route: action.route, sidebar: false };
    case "connection/changed":
      return state.online === action.online ? state : { ...state, online: action.online };
    case "sidebar/toggled":
      return { ...state, sidebar: action.open };
    case "dialog/opened":
      return { ...state, dialog: action.dialog };
    case "dialog/closed":
      return { ...state, dialog: null };
    case "toast/added":
      return { ...state, toasts: [...state.toasts, action.toast] };
    case "toast/progress":
      return {
        ...state,
        toasts: state.toasts.map((one) => (one.id === action.id ? { ...one, progress: action.progress } : one)),
      };
    case "toast/removed":
      return { ...state, toasts: state.toasts.filter((one) => one.id !== action.id) };
    case "models/loaded":
      return { ...state, models: action.models, chosen: state.chosen ?? usualOf(action.models) };
    case "models/chosen":
      return { ...state, chosen: action.model };
    case "draft/changed":
      return { ...state, drafts: { ...state.drafts, [action.key]: action.text } };
    case "draft/extras":
      return { ...state, extras: { ...state.extras, [action.key]: action.extras } };
    case "draft/uploads":
      return { ...state, uploads: { ...state.uploads, [action.key]: action.uploads } };
    case "compression/begun":
    case "compression/started":
    case "compression/told":
    case "compression/stopping":
    case "compression/failed":
    case "compression/cleared":
      return { ...state, compressions: reduceCompressions(state.compressions, action) };
    default:
      return withParts(state, action);
  }
}

function withParts(state: State, action: Action): State {
  const conversations = reduceConversations(state.conversations, action);
  const chat = nextChat(state.chat, action);
  return conversations === state.conversations && chat === state.chat
    ? state
    : { ...state, conversations, chat };
}

function nextChat(chat: Chat | null, action: Action): Chat | null {
  if (!("id" in action) || !(action.type.startsWith("chat/") || action.type.startsWith("turn/"))) return chat;
  if (action.type === "chat/opened") return openChat(action.id, action.info);
  return chat?.id === action.id ? reduceChat(chat, action as Parameters<typeof reduceChat>[1]) : chat;
}

/** Who chose no model is answered by one that can be used. */
const usualOf = ({ default: chosen, usual }: Models): string | null => (chosen ? null : usual || null);
