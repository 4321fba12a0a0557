/** What compressions made: read it, look at it, take it back, write it anew. */

import * as api from "../../api/compression";
import { Problem } from "../../api/problem";
import type { Passage, Snapshot, SummarySize } from "../../api/types";
import { plural } from "../../lib/format";
import type { SnapshotRead } from "../compression";
import { dispatch, state } from "../store";
import { servingOf, snapshotKey } from "../timeline";
import { refresh } from "./chat";
import { reveal, untilReady } from "./reveal";
import { go } from "./route";
import { report, toast } from "./toast";

const WORD = /[\p{L}\p{N}]{2,}/gu;
const LONGEST = 2_000;
/** Characters that are looked up. */

/** Fetch a snapshot with its receipt; one that was edited by hand has none. */
export async function readSnapshot(id: string, snapshot: string): Promise<SnapshotRead | null> {
  const known = state().chat?.id === id ? state().chat?.compression.read[snapshot] : undefined;
  if (known) return known;
  try {
    const full = await api.readSnapshot(id, snapshot);
    const receipt = full.receipt ? await api.readReceipt(id, snapshot) : null;
    dispatch({ type: "chat/snapshotRead", id, read: { full, receipt } });
    return { full, receipt };
  } catch (error) {
    report(error);
    return null;
  }
}

/** Open or close the divider; it is read first, so that it opens to its full size at once. */
export async function toggleCompression(id: string, snapshot: string, open: boolean): Promise<void> {
  if (open) await readSnapshot(id, snapshot);
  dispatch({ type: "chat/compressionOpened", id, open });
}

export function showOriginals(id: string, shown: boolean): void {
  dispatch({ type: "chat/originalsShown", id, shown });
}

function servingNow(id: string): Snapshot | undefined {
  const { chat } = state();
  return chat?.id === id ? servingOf(chat) : undefined;
}

/** Open the divider, wherever it is. */
export async function showCompression(id: string): Promise<void> {
  go({ name: "chat", id });
  await untilReady(id);
  // What was just made may not be listed yet.
  if (!servingNow(id)) await refresh(id);
  const serving = servingNow(id);
  if (!serving) return;
  await toggleCompression(id, serving.id, true);
  await reveal(id, serving.cutoff, serving.cutoff_depth);
  dispatch({ type: "chat/target", id, message: snapshotKey(serving) });
}

/** Show where something comes from, also when the originals are out of sight. */
export function showSource(id: string, message: string, depth: number): void {
  showOriginals(id, true);
  void reveal(id, message, depth);
}

export async function undoCompression(id: string, snapshot: Snapshot): Promise<void> {
  await change(
    id,
    () => api.undoSnapshot(id, snapshot.id),
    (moved) => ({
      text: "Undone",
      detail: inUse(moved.in_use),
      action: { label: "Redo", run: () => void chooseCompression(id, snapshot) },
    }),
  );
}

/** Put one of the versions into use, an undone one too. */
export async function chooseCompression(id: string, snapshot: Snapshot): Promise<void> {
  await change(
    id,
    () => api.useSnapshot(id, snapshot.id),
    (moved) => ({
      text: inUse(moved.in_use),
      action: { label: "Undo", run: () => void undoCompression(id, snapshot) },
    }),
  );
}

/** What is sent now, in words. */
const inUse = (snapshot: Snapshot | null): string =>
  snapshot
    ? `Version ${snapshot.version} of ${plural(snapshot.messages, "message")} is in use`
    : "All messages are sent as they were";

/** Write the summary by hand, in its place. */
export async function beginSummaryEdit(id: string, snapshot: Snapshot): Promise<void> {
  await toggleCompression(id, snapshot.id, true);
  dispatch({ type: "chat/summaryEditing", id, editing: true });
}

export const endSummaryEdit = (id: string): void => dispatch({ type: "chat/summaryEditing", id, editing: false });

/** Copy what the model sees in place of the messages. */
export async function copySummary(id: string, snapshot: Snapshot): Promise<void> {
  const read = await readSnapshot(id, snapshot.id);
  if (!read) return;
  await navigator.clipboard.writeText(read.full.text);
  toast({ tone: "success", text: "Copied" });
}

/** The message that a line of a summary comes from, as far as its words tell. */
export async function findSource(id: string, words: string): Promise<Passage | "none"> {
  try {
    const { passages } = await api.findRecalled(id, words.slice(0, LONGEST));
    return bestOf(words, passages) ?? "none";
  } catch (error) {
    report(error);
    return "none";
  }
}

/** They come in the order in which they were said; the one with the most of the words is meant. */
function bestOf(words: string, passages: Passage[]): Passage | undefined {
  const wanted = new Set(words.toLowerCase().match(WORD));
  const shared = ({ text }: Passage) => [...new Set(text.toLowerCase().match(WORD))].filter((word) => wanted.has(word)).length;
  return passages.reduce<Passage | undefined>((best, one) => (best && shared(best) >= shared(one) ? best : one), undefined);
}

/** What a snapshot would cost with another summary; null when that cannot be told. */
export async function measureSummary(
  id: string,
  snapshot: Snapshot,
  text: string,
  signal: AbortSignal,
): Promise<SummarySize | null> {
  try {
    return await api.measureSummary(id, snapshot.id, text, signal);
  } catch {
    return null;
  }
}

export async function editSummary(id: string, snapshot: Snapshot, summary: string): Promise<boolean> {
  return change(id, () => api.editSummary(id, snapshot.id, summary), () => ({ text: "The summary was changed" }));
}

/** Put the line of a lost fact among the exact lines. */
export async function addBack(id: string, snapshot: Snapshot, item: string): Promise<void> {
  await change(id, () => api.restoreFact(id, snapshot.id, item), () => ({ text: "Added back", detail: item }));
}

/** Take an exact line out; later compressions do not find it again. */
export async function dropLine(id: string, snapshot: Snapshot, line: { message: string; text: string }): Promise<void> {
  await change(
    id,
    () => api.dropLine(id, snapshot.id, line.message, line.text),
    (made) => ({
      text: "Dropped",
      detail: line.text,
      action: { label: "Undo", run: () => void undoCompression(id, made) },
    }),
  );
}

type News = { text: string; detail?: string; action?: { label: string; run: () => void } };

async function change<T extends Snapshot>(
  id: string,
  call: () => Promise<T>,
  news: (made: T) => News,
): Promise<boolean> {
  let made: T;
  try {
    made = await call();
    if ("summary" in made) await readSnapshot(id, made.id);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    report(error);
    return false;
  }
  await refresh(id);
  // The button that was pressed may have gone with its row.
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>(".timeline")?.focus({ preventScroll: true });
  toast({ tone: "success", ...news(made) });
  return true;
}
