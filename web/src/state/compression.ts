/** Compressions in the state: the one that runs, what was read of those that were made, pins, and where to look. */

import type { Outcome, TaskEvent } from "../api/events";
import type { Pin, Receipt, SnapshotFull } from "../api/types";

/** What was asked for; with `snapshot`, a new version of that one. */
export interface Order {
  focus: string;
  keep: number | null;
  snapshot: string | null;
  /** The conversation was below the minimum: a failure to make it smaller is no surprise. */
  small: boolean;
}

export interface CompressionFailure {
  outcome: "error";
  message: string;
  hint: string;
}

/** A compression somebody asked for, from the moment it was asked until its end was seen. */
export interface RunningCompression {
  order: Order;
  task: string | null;
  /** What it covers, as soon as it really began. */
  covers: { messages: number; tokens: number } | null;
  text: string;
  stopping: boolean;
  outcome: Outcome | CompressionFailure | null;
}

/** A snapshot with its text; the receipt is null when it was edited by hand. */
export interface SnapshotRead {
  full: SnapshotFull;
  receipt: Receipt | null;
}

export interface CompressionView {
  open: boolean;
  /** The covered messages are shown above the divider. */
  originals: boolean;
  read: Readonly<Record<string, SnapshotRead>>;
  pins: Pin[];
  /** The summary is being written by hand. */
  editing: boolean;
}

export const COMPRESSION_VIEW: CompressionView = { open: false, originals: true, read: {}, pins: [], editing: false };

/** What happens to the view of the open conversation. */
export type CompressionViewAction =
  | { type: "chat/compressionOpened"; id: string; open: boolean }
  | { type: "chat/originalsShown"; id: string; shown: boolean }
  | { type: "chat/summaryEditing"; id: string; editing: boolean }
  | { type: "chat/snapshotRead"; id: string; read: SnapshotRead }
  | { type: "chat/pinned"; id: string; pins: Pin[] };

/** What happens to a compression, of whichever conversation. */
export type CompressionAction =
  | { type: "compression/begun"; id: string; order: Order; task: string | null }
  | { type: "compression/started"; id: string; task: string }
  | { type: "compression/told"; id: string; task: string; told: TaskEvent }
  | { type: "compression/stopping"; id: string }
  | { type: "compression/failed"; id: string; message: string; hint: string }
  | { type: "compression/cleared"; id: string };

export type RunningCompressions = Readonly<Record<string, RunningCompression>>;
