/** Asking and being answered. The server owns the turn: following it can begin, end and begin again at any time. */

import * as api from "../../api/client";
import type { TaskEvent } from "../../api/events";
import { Problem } from "../../api/problem";
import { follow } from "../../api/sse";
import type { PartIn, TurnIn } from "../../api/types";
import { remember } from "../../lib/entries";
import type { Entry } from "../../lib/entry";
import { forgetWaiting, keepWaiting, readWaiting } from "../../lib/waiting";
import { newId } from "../../lib/ids";
import { expanded } from "../../lib/longtext";
import { dispatch, state } from "../store";
import type { ShownMessage } from "../types";
import { refresh } from "./chat";
import { NEW } from "./drafts";
import { clearEntry, setEntry } from "./entry";
import { haveModel } from "./models";
import { go } from "./route";
import { tellTabs } from "./tabs";
import { report } from "./toast";

const TITLE_LENGTH = 60;
/** Characters of the first message that make a conversation's first title. */

const LOST = {
  type: "lost",
  message: "The server was stopped before it had answered.",
  hint: "Your message is stored.",
  retryable: true,
  partial: null,
};

let following: { task: string; controller: AbortController } | null = null;

/** Say something: in the open conversation, or in a new one. What could not be sent is in the input again. */
export async function say(entry: Entry): Promise<void> {
  const { route } = state();
  const text = expanded(entry);
  const shown = text.trim() ? text : entry.files.map((one) => one.name).join("\n");
  clearEntry(route.name === "chat" ? route.id : NEW);
  if (route.name === "chat") await haveModel();
  const id = route.name === "chat" ? route.id : await begin(shown);
  if (!id) setEntry(NEW, entry);
  else if (await startTurn(id, { content: contentOf(text, entry.files.map((one) => one.part)) }, shown)) remember(entry);
  else setEntry(id, entry);
}

/** Words alone go as they are; with files, as parts. */
export function contentOf(text: string, others: PartIn[]): string | PartIn[] {
  if (others.length === 0) return text;
  return text.trim() ? [...others, { type: "text", text }] : others;
}

async function begin(text: string): Promise<string | null> {
  const model = state().chosen;
  try {
    const made = await api.createConversation(firstTitle(text), model ? { model } : {});
    dispatch({ type: "conversations/changed", conversation: made });
    tellTabs();
    go({ name: "chat", id: made.id });
    return made.id;
  } catch (error) {
    report(error);
    return null;
  }
}

function firstTitle(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH).replace(/\s\S*$/, "")}…`;
}

/** The line is back: send what waited for it. It has an id, so that it is sent once, whoever sends it. */
export function sendWaiting(id: string): void {
  const held = readWaiting(id);
  if (held) void startTurn(id, held.turn as TurnIn, held.shown);
}

/** Begin any turn: `content`, `edits`, `regenerates`, or nothing to have the tip answered. */
export async function startTurn(id: string, turn: TurnIn, shown: string | null = null): Promise<boolean> {
  dispatch({ type: "chat/sent", id, text: shown });
  const named = { id: newId(), ...turn };
  try {
    const task = await api.beginTurn(id, named);
    forgetWaiting(id);
    followTurn(id, task.id);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.offline) {
      keepWaiting(id, { turn: named, shown });
      dispatch({ type: "connection/changed", online: false });
      return true;
    }
    forgetWaiting(id);
    if (!(error instanceof Problem) || error.status === 401) {
      dispatch({ type: "chat/sent", id, text: null });
      report(error);
    } else {
      const { message, hint } = error.detail;
      dispatch({ type: "chat/failed", id, trouble: { message, hint, retryable: false, unsent: turn.content !== undefined } });
    }
    return false;
  }
}

/** Ask again after a failure: for an answer to what is at the end on screen, or for another in place of a broken one. */
export function retry(): void {
  const chat = state().chat;
  const last = chat?.messages.at(-1);
  if (!chat) return;
  // Not simply the tip: while an answer is made again, the tip is still the old one.
  if (last?.role === "assistant") void regenerate(last);
  else goOn();
}

/** Have the end on screen answered; of an answer that broke off, the rest. */
export function goOn(): void {
  const chat = state().chat;
  const last = chat?.messages.at(-1);
  if (chat && last) void answerBelow(chat.id, last.id, { parent: last.id });
}

/** Begin a turn whose answer goes below a message on screen; what is there now is out of sight. */
async function answerBelow(id: string, message: string | null, turn: TurnIn): Promise<void> {
  dispatch({ type: "chat/rewound", id, to: message });
  if (!(await startTurn(id, turn))) await refresh(id);
}

/** Have a question answered once more; the answer that is there stays, as a sibling. */
export async function regenerate(answer: ShownMessage): Promise<void> {
  const chat = state().chat;
  if (!chat || chat.turn) return;
  const above = chat.messages.slice(0, chat.messages.findIndex((one) => one.id === answer.id));
  const question = above.findLast((one) => one.role === "user");
  await answerBelow(chat.id, question?.id ?? answer.parent, { regenerates: answer.id });
}

export async function stop(): Promise<void> {
  const chat = state().chat;
  if (chat?.target) dispatch({ type: "chat/target", id: chat.id, message: null });
  if (!chat?.turn || chat.turn.stopping) return;
  dispatch({ type: "turn/stopping", id: chat.id });
  try {
    await api.cancelTurn(chat.id, chat.turn.task);
  } catch (error) {
    // A turn that has just ended is not there to be stopped.
    if (!(error instanceof Problem && error.status === 404)) report(error);
  }
}

export function followTurn(id: string, task: string): void {
  if (following?.task === task) return;
  unfollow();
  const controller = new AbortController();
  following = { task, controller };
  dispatch({ type: "turn/followed", id, task });
  void listen(id, task, controller.signal);
}

export function unfollow(): void {
  following?.controller.abort();
  following = null;
}

async function listen(id: string, task: string, signal: AbortSignal): Promise<void> {
  const tell = (told: TaskEvent) => dispatch({ type: "turn/told", id, task, told });
  try {
    await follow(api.turnEvents(id, task), {
      signal,
      connected: (online) => dispatch({ type: "connection/changed", online }),
      heard: (one) => {
        tell({ event: one.event, data: one.data } as TaskEvent);
        return one.event === "done";
      },
    });
  } catch (error) {
    // The server was restarted and knows nothing of the turn: what it had stored is what there is.
    if (error instanceof Problem && error.status === 404) tell({ event: "failed", data: LOST });
    else if (!signal.aborted) report(error);
  }
  if (!signal.aborted) await refresh(id);
}
