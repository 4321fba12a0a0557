/** The messages on screen: one branch, oldest first, each once. */

import type { MessagePage } from "../../api/types";
import type { ShownMessage } from "../types";

/** Put a message below its parent; whatever was below that before is another branch now. */
export function place(messages: ShownMessage[], message: ShownMessage): ShownMessage[] {
  const known = messages.findIndex((one) => one.id === message.id);
  if (known >= 0) return messages.with(known, { ...messages[known], ...message });
  if (message.parent === null) return [message];
  const parent = messages.findIndex((one) => one.id === message.parent);
  return [...(parent < 0 ? messages : messages.slice(0, parent + 1)), message];
}

/**
 * Replace the newest messages by what the store says; older ones that were loaded stay if they belong to it.
 *
 * While a turn runs, a page may have been read just before its messages were stored: then they stay too.
 */
export function renew(
  messages: ShownMessage[],
  before: string | null,
  page: MessagePage,
  running: boolean,
): { messages: ShownMessage[]; before: string | null } {
  const ids = messages.map((one) => one.id);
  const first = ids.indexOf(page.messages[0]?.id ?? "");
  const last = ids.indexOf(page.messages.at(-1)?.id ?? "");
  const newer = running && (last >= 0 || page.messages.length === 0) ? messages.slice(last + 1) : [];
  const older = first > 0 ? messages.slice(0, first) : [];
  return { messages: [...older, ...page.messages, ...newer], before: older.length ? before : page.before };
}

/** A page as far as a message; all of it without one, or when the message is not on it. */
export function cutAt(page: MessagePage, end: string | null | undefined): MessagePage {
  if (end === undefined) return page;
  const at = page.messages.findIndex((one) => one.id === end);
  return at < 0 && end !== null ? page : { ...page, messages: page.messages.slice(0, at + 1) };
}
