/** The open conversation: load it, follow its channel, keep what is shown true. */

import * as api from "../../api/client";
import type { Change, ChannelEvent, Outcome } from "../../api/events";
import { Problem } from "../../api/problem";
import { follow } from "../../api/sse";
import { dispatch, state } from "../store";
import { resumeCompression, tellCompressed } from "./compression";
import { loadPins } from "./pins";
import { report, toast } from "./toast";
import { followTurn, sendWaiting, unfollow } from "./turns";

export const PAGE = 60;
/** Messages loaded at a time: a few screens. */

let channel = new AbortController();

export function closeChat(): void {
  channel.abort();
  unfollow();
}

/** Whether what happens to the open conversation is heard: not after it was left for another page. */
export const isListening = (): boolean => !channel.signal.aborted;

export async function openConversation(id: string): Promise<void> {
  closeChat();
  channel = new AbortController();
  const info = state().conversations.items.find((one) => one.id === id) ?? null;
  dispatch({ type: "chat/opened", id, info });
  try {
    await loadAll(id);
  } catch (error) {
    tellTrouble(id, error);
    if (!(error instanceof Problem && error.offline)) return;
  }
  void listen(id, channel.signal);
}

const loadAll = (id: string): Promise<unknown> =>
  Promise.all([loadInfo(id), loadMessages(id), loadMeter(id), loadSettings(id), loadPins(id)]);

function tellTrouble(id: string, error: unknown): void {
  if (error instanceof Problem && (error.status === 404 || error.status === 422)) {
    dispatch({ type: "chat/missing", id });
    dispatch({ type: "conversations/removed", id });
  } else report(error);
}

async function loadInfo(id: string): Promise<void> {
  const info = await api.readConversation(id);
  dispatch({ type: "chat/info", id, info });
  dispatch({ type: "conversations/changed", conversation: info });
}

async function loadMessages(id: string): Promise<void> {
  dispatch({ type: "chat/loaded", id, page: await api.listMessages(id, { limit: PAGE }) });
}

async function loadSettings(id: string): Promise<void> {
  dispatch({ type: "chat/settings", id, settings: await api.readSettings(id) });
}

/** The meter and the snapshots. Without a model there is no meter: that is no error. */
export async function loadMeter(id: string): Promise<void> {
  const listed = api.listSnapshots(id).then((snapshots) => dispatch({ type: "chat/snapshots", id, snapshots }));
  // Together: where both fail, neither is left without anybody who hears of it.
  await Promise.all([listed, loadUsage(id)]);
}

async function loadUsage(id: string): Promise<void> {
  try {
    dispatch({ type: "chat/usage", id, usage: await api.readUsage(id) });
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409) throw error;
    dispatch({ type: "chat/usage", id, usage: null });
  }
}

let looking: Promise<void> = Promise.resolve();
let next: { id: string; done: Promise<void> } | null = null;

/**
 * Look again at everything that a turn, a compression or another tab may have changed.
 *
 * One look after the other, so that an answer that comes late never takes the place of a newer one; who asks while one
 * waits to begin shares it.
 */
export function refresh(id: string): Promise<void> {
  if (next?.id === id) return next.done;
  const begin = () => {
    if (next === mine) next = null;
    return loadAll(id).then(() => undefined, (error: unknown) => tellTrouble(id, error));
  };
  const mine = { id, done: looking.then(begin) };
  next = mine;
  looking = mine.done;
  return mine.done;
}

export function loadOlder(): Promise<void> {
  const chat = state().chat;
  if (!chat?.before) return Promise.resolve();
  // Whoever asks while they are on their way waits for them, and not for nothing, again and again.
  if (chat.older !== "loading") olderOnTheirWay = askForOlder(chat.id, chat.before);
  return olderOnTheirWay;
}

let olderOnTheirWay: Promise<void> = Promise.resolve();

async function askForOlder(id: string, before: string): Promise<void> {
  dispatch({ type: "chat/olderAsked", id });
  try {
    dispatch({ type: "chat/olderLoaded", id, page: await api.listMessages(id, { before, limit: PAGE }) });
  } catch (error) {
    dispatch({ type: "chat/olderLoaded", id, page: { messages: [], before } });
    report(error);
  }
}

/** Fetch the whole of a message that was shortened. */
export async function loadWhole(id: string, message: string): Promise<void> {
  try {
    dispatch({ type: "chat/message", id, message: await api.readMessage(id, message) });
  } catch (error) {
    report(error);
  }
}

async function listen(id: string, signal: AbortSignal): Promise<void> {
  let heard = 0;
  try {
    await follow(api.conversationEvents(id), {
      signal,
      connected: (online) => {
        dispatch({ type: "connection/changed", online });
        if (online) sendWaiting(id);
      },
      heard: (told) => hear(id, { event: told.event, data: told.data } as ChannelEvent, (heard += 1) > 1),
    });
  } catch (error) {
    if (!signal.aborted) tellTrouble(id, error);
  }
}

/** `again`: this is not the first that is heard, so that a `state` comes after a lost connection. */
function hear(id: string, told: ChannelEvent, again: boolean): void {
  const background = state().chat?.preparing === true && !state().compressions[id];
  dispatch({ type: "chat/heard", id, told });
  switch (told.event) {
    case "state": {
      if (told.data.jobs.length > 0) void resumeCompression(id);
      const { turns, tip, deleted } = told.data;
      const turn = turns.at(-1);
      if (deleted) dispatch({ type: "conversations/removed", id });
      else if (turn) followTurn(id, turn);
      if (!deleted && (again || (!turn && tip !== (state().chat?.messages.at(-1)?.id ?? null)))) void refresh(id);
      return;
    }
    case "changed":
      change(id, told.data);
      return;
    case "turn_started":
      followTurn(id, told.data.turn);
      return;
    case "compression_ended":
      tellOutcome(id, told.data, background);
      void refresh(id);
      return;
  }
}

function change(id: string, { what, tip, deleted }: Change): void {
  const { chat } = state();
  if (deleted) {
    dispatch({ type: "conversations/removed", id });
    return;
  }
  // What one says oneself is told by the turn's own events.
  const known = chat && (chat.turn || chat.pending !== null || tip === chat.messages.at(-1)?.id);
  if (known && what.includes("tip") && what.every((one) => one === "tip" || one === "messages")) return;
  void refresh(id);
}

/** Automatic compressions are told in passing, unless that is not wanted; the timeline shows the rest. */
function tellOutcome(id: string, outcome: Outcome, background: boolean): void {
  if (state().chat?.settings?.effective["notifications"] === false) return;
  if (outcome.outcome === "failed" && background)
    toast({ tone: "info", text: "A compression could not be prepared; it is tried again later", detail: outcome.error });
  if (outcome.outcome !== "compressed" || outcome.urgency === "manual") return;
  tellCompressed(id, outcome.snapshot);
}
