/** Compressing by hand. The server owns the task: the dialog may be closed and the page reloaded meanwhile. */

import * as api from "../../api/compression";
import type { TaskEvent } from "../../api/events";
import { Problem } from "../../api/problem";
import { follow } from "../../api/sse";
import type { Plan, Snapshot } from "../../api/types";
import { count, plural } from "../../lib/format";
import type { Order } from "../compression";
import { dispatch, state } from "../store";
import { RUNNING } from "../timeline";
import { refresh } from "./chat";
import { go } from "./route";
import { readSnapshot, showCompression } from "./snapshots";
import { report, toast } from "./toast";

/** Open the dialog, of the conversation that it is about. */
export function askToCompress(id: string, focus = ""): void {
  go({ name: "chat", id });
  dispatch({ type: "dialog/opened", dialog: { kind: "compress", id, focus } });
}

/** What was typed as a command; where no conversation is open, there is nothing to compress, and it tells so. */
export function compressByCommand(focus: string): boolean {
  const { route } = state();
  if (route.name === "chat") askToCompress(route.id, focus);
  else toast({ tone: "info", text: "There is nothing to compress yet", detail: "Say something first." });
  return route.name === "chat";
}

/** What a compression would do now, or why that cannot be told. */
export async function plan(
  id: string,
  asked: { focus: string; keep: number | null },
  signal: AbortSignal,
): Promise<Plan | Problem | null> {
  try {
    return await api.readPlan(id, asked, signal);
  } catch (error) {
    if (signal.aborted) return null;
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Bring the compression that runs into sight. */
export const showRunning = (id: string): void => dispatch({ type: "chat/target", id, message: RUNNING });

export async function compress(id: string, order: Order): Promise<void> {
  dispatch({ type: "compression/begun", id, order, task: null });
  showRunning(id);
  try {
    const task = order.snapshot
      ? await api.regenerateSummary(id, order.snapshot, order.focus)
      : await api.beginCompression(id, { focus: order.focus, keep: order.keep });
    dispatch({ type: "compression/started", id, task: task.id });
    await listen(id, task.id);
  } catch (error) {
    fail(id, error);
  }
}

/** The page was reloaded while one ran: go on watching it. */
export async function resumeCompression(id: string): Promise<void> {
  if (state().compressions[id]) return;
  try {
    const running = (await api.listCompressions(id)).tasks.findLast((one) => one.status === "running");
    if (!running || state().compressions[id]) return;
    const order = { focus: "", keep: null, snapshot: null, small: false };
    dispatch({ type: "compression/begun", id, order, task: running.id });
    await listen(id, running.id);
  } catch (error) {
    fail(id, error);
  }
}

export async function cancelCompression(id: string): Promise<void> {
  const task = state().compressions[id]?.task;
  if (!task) return;
  dispatch({ type: "compression/stopping", id });
  try {
    await api.cancelCompression(id, task);
  } catch (error) {
    // One that has just ended is not there to be stopped.
    if (!(error instanceof Problem && error.status === 404)) report(error);
  }
}

/** Its end was seen. */
export function forgetCompression(id: string): void {
  if (state().compressions[id]?.outcome) dispatch({ type: "compression/cleared", id });
}

async function listen(id: string, task: string): Promise<void> {
  await follow(api.compressionEvents(id, task), {
    signal: new AbortController().signal,
    heard: (one) => {
      dispatch({ type: "compression/told", id, task, told: { event: one.event, data: one.data } as TaskEvent });
      // Now it is known where it stands.
      if (one.event === "compression_started" || one.event === "compression_ended") showRunning(id);
      return one.event === "done";
    },
  });
  await conclude(id);
}

function fail(id: string, error: unknown): void {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 401) report(error);
  const { message, hint } = error.detail;
  dispatch({ type: "compression/failed", id, message, hint });
  void conclude(id);
}

async function conclude(id: string): Promise<void> {
  const outcome = state().compressions[id]?.outcome;
  if (outcome?.outcome === "compressed") await readSnapshot(id, outcome.snapshot.id);
  const here = state().chat?.id === id && state().route.name === "chat";
  if (here) await refresh(id);
  if (outcome?.outcome === "compressed") {
    forgetCompression(id);
    // Whoever looks at the conversation sees the card where it was written.
    if (here) await showCompression(id);
    else tellCompressed(id, outcome.snapshot);
  } else if (outcome?.outcome === "cancelled") {
    forgetCompression(id);
    toast({ tone: "info", text: "Cancelled", detail: "Nothing was changed: the whole history is still sent." });
  } else if (outcome && !here)
    toast({
      tone: "error",
      text: "Nothing was compressed",
      action: { label: "Why", run: () => (go({ name: "chat", id }), showRunning(id)) },
    });
}

/** Every place that tells of a compression gives these figures. */
export function tellCompressed(id: string, { messages, tokens_before, tokens_after }: Snapshot): void {
  toast({
    tone: "success",
    text: `${plural(messages, "message")} compressed`,
    detail: `${count(tokens_before)} → ${count(tokens_after)} tokens`,
    action: { label: "View", run: () => void showCompression(id) },
  });
}
