/** The list at the side. */

import type { Conversation } from "../../api/types";
import type { Action, ConversationList } from "../types";

export function reduceConversations(list: ConversationList, action: Action): ConversationList {
  switch (action.type) {
    case "conversations/asked":
      return { ...list, query: action.query, archived: action.archived, status: "loading" };
    case "conversations/loaded": {
      const items = action.append ? merge(list.items, action.items) : action.items;
      return { ...list, items, more: action.more, status: "ready", deleted: action.deleted };
    }
    case "conversations/label":
      return { ...list, label: action.label };
    case "conversations/labels":
      return { ...list, labels: action.labels };
    case "conversations/failed":
      return { ...list, status: "failed" };
    case "conversations/changed":
      return { ...list, items: put(list, action.conversation) };
    case "conversations/removed":
      return { ...list, items: list.items.filter((one) => one.id !== action.id) };
    default:
      return list;
  }
}

function merge(known: Conversation[], more: Conversation[]): Conversation[] {
  const ids = new Set(known.map((one) => one.id));
  return [...known, ...more.filter((one) => !ids.has(one.id))];
}

/** Put a changed conversation where it belongs now: the last changed first, and only in its own list, if in any. */
function put(list: ConversationList, changed: Conversation): Conversation[] {
  const others = list.items.filter((one) => one.id !== changed.id);
  const fits = changed.title.toLowerCase().includes(list.query.trim().toLowerCase());
  const labelled = !list.label || changed.labels.includes(list.label);
  if (changed.deleted || changed.archived !== list.archived || !fits || !labelled) return others;
  return [changed, ...others].sort((a, b) => (a.updated < b.updated ? 1 : -1));
}
