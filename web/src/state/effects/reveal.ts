/** Brings a message into sight: on its branch, however far above. */

import * as api from "../../api/client";
import { dispatch, state } from "../store";
import { refresh } from "./chat";
import { go } from "./route";
import { report } from "./toast";

const STRIDE = 1_000;
/** Messages loaded at a time on the way up: as many as the server gives. */

/** Show a message of any conversation. */
export async function reveal(conversation: string, message: string, depth: number): Promise<void> {
  go({ name: "chat", id: conversation });
  try {
    await untilReady(conversation);
    if (!(await climb(conversation, message, depth))) {
      await api.changeConversation(conversation, { tip: message });
      await refresh(conversation);
      if (!(await climb(conversation, message, depth))) return;
    }
    dispatch({ type: "chat/target", id: conversation, message });
  } catch (error) {
    report(error);
  }
}

const MESSAGE = /^#([0-9a-f]{32})$/;
const ANYWHERE = -1;
/** No depth is smaller: looked for up to the first message. */

/** The address that leads to a message. */
export const linkTo = (conversation: string, message: string): string => `${location.origin}/c/${conversation}#${message}`;

/** Show the message that the address names, if it names one. */
export function revealAddress(): void {
  const message = MESSAGE.exec(location.hash)?.[1];
  const { route } = state();
  if (message && route.name === "chat") void reveal(route.id, message, ANYWHERE);
}

/** Load older messages until the message is there, or its place is and something else stands there. */
async function climb(id: string, message: string, depth: number): Promise<boolean> {
  for (;;) {
    const chat = state().chat;
    if (chat?.id !== id) return false;
    if (chat.messages.some((one) => one.id === message)) return true;
    const first = chat.messages[0];
    if (!chat.before || !first || first.depth <= depth) return false;
    const page = await api.listMessages(id, { before: chat.before, limit: STRIDE });
    dispatch({ type: "chat/olderLoaded", id, page });
  }
}

/** Wait until a conversation that was just opened is there. */
export function untilReady(id: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const chat = state().chat;
      if (chat?.id !== id || chat.status !== "loading") resolve();
      else requestAnimationFrame(look);
    };
    look();
  });
}
