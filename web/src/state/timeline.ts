/** What the timeline shows, row by row: a pure function of the open conversation. A new kind of row starts here. */

import type { Passage, Snapshot } from "../api/types";
import type { RunningCompression } from "./compression";
import type { Chat, ShownMessage, Trouble, Turn } from "./types";

export type Row =
  | { kind: "message"; key: string; message: ShownMessage; covered: boolean }
  | { kind: "recalled"; key: string; message: string; passages: Passage[]; covered: boolean }
  | { kind: "snapshot"; key: string; snapshot: Snapshot }
  | { kind: "running"; key: string; compression: RunningCompression }
  | { kind: "undone"; key: string; snapshot: Snapshot }
  | { kind: "pending"; key: string; text: string }
  | { kind: "turn"; key: string; turn: Turn }
  | { kind: "unanswered"; key: string }
  | { kind: "failure"; key: string; trouble: Trouble };

export const RUNNING = "running";
/** The key of the row of a compression at work. */

/** The same for all versions: what is open in the row stays so. */
export const snapshotKey = (snapshot: Snapshot): string => `compression-${snapshot.cutoff}`;

export const servingOf = (chat: Chat): Snapshot | undefined =>
  chat.snapshots?.snapshots.find((one) => one.id === chat.snapshots?.serving);

export const isCovered = (row: Row | undefined): boolean => (row?.kind === "message" || row?.kind === "recalled") && row.covered;

/** Whether there is more to be shown above; not while what is above is out of sight, compressed. */
export function hasOlder(chat: Chat): boolean {
  const cutoff = chat.compression.originals ? undefined : servingOf(chat)?.cutoff;
  return chat.before !== null && !chat.messages.some((one) => one.id === cutoff);
}

/** The last word is a question, and nobody is answering it: whatever became of the answer, it can be asked for. */
const isUnanswered = ({ status, known, messages, pending, turn, failure, editing }: Chat): boolean =>
  status === "ready" && known && messages.at(-1)?.role === "user" && pending === null && !turn && !failure && !editing;

export function rowsOf(chat: Chat, running?: RunningCompression): Row[] {
  const rows: Row[] = [];
  const working: Row[] = running && running.outcome?.outcome !== "compressed" ? [{ kind: "running", key: RUNNING, compression: running }] : [];
  const serving = servingOf(chat);
  const undone = chat.snapshots?.snapshots.findLast(
    (one) => one.state === "undone" && one.cutoff_depth > (serving?.cutoff_depth ?? -1),
  );
  const ids = chat.messages.map((one) => one.id);
  const cut = serving ? ids.indexOf(serving.cutoff) : -1;
  const start = serving ? ids.indexOf(serving.first) : -1;
  chat.messages.forEach((message, index) => {
    const covered = index <= cut && index >= start;
    if (!covered || chat.compression.originals) {
      rows.push({ kind: "message", key: message.id, message, covered });
      const { id, recalled: passages = [] } = message;
      if (passages.length > 0) rows.push({ kind: "recalled", key: `recalled-${id}`, message: id, passages, covered });
    }
    if (serving?.cutoff === message.id) {
      // Written again, it is written in its place.
      const again = running?.order.snapshot === serving.id && !running.outcome;
      rows.push(again ? working.pop()! : { kind: "snapshot", key: snapshotKey(serving), snapshot: serving });
    }
    // It will stand about here; where exactly, it tells when it is done.
    if (message.depth === running?.covers?.messages) rows.push(...working.splice(0));
    if (undone?.cutoff === message.id) rows.push({ kind: "undone", key: snapshotKey(undone), snapshot: undone });
  });
  rows.push(...working);
  if (chat.pending !== null) rows.push({ kind: "pending", key: "pending", text: chat.pending });
  // The answer is stored under the turn's own id: with the same key, the row stays when the answer is there.
  // It may be among the messages before the turn has told its end.
  if (chat.turn && !ids.includes(chat.turn.task))
    rows.push({ kind: "turn", key: chat.turn.task, turn: chat.turn });
  if (isUnanswered(chat)) rows.push({ kind: "unanswered", key: "unanswered" });
  if (chat.failure) rows.push({ kind: "failure", key: "failure", trouble: chat.failure });
  return rows;
}
