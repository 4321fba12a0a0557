/** The calls about compressions: plan one, run one, and everything that can be done with what it made. */

import { request } from "./http";
import type {
  CompressIn,
  Plan,
  Pins,
  Recalled,
  Receipt,
  SnapshotFull,
  SnapshotMoved,
  SummarySize,
  Task,
  Tasks,
} from "./types";

const chat = (id: string) => `conversations/${id}`;
const snapshot = (id: string, one: string) => `${chat(id)}/snapshots/${one}`;

export const readPlan = (id: string, query: { focus: string; keep: number | null }, signal: AbortSignal) =>
  request<Plan>("GET", `${chat(id)}/plan`, { query, signal });

/** Only the task is answered; its events are followed by `follow`, which can be resumed. */
export const beginCompression = (id: string, order: CompressIn) =>
  request<Task>("POST", `${chat(id)}/compressions`, { body: { ...order, stream: false } });
export const regenerateSummary = (id: string, one: string, focus: string) =>
  request<Task>("POST", `${snapshot(id, one)}/regenerate`, { body: { focus, stream: false } });
export const listCompressions = (id: string) => request<Tasks>("GET", `${chat(id)}/compressions`);
export const cancelCompression = (id: string, task: string) =>
  request<void>("DELETE", `${chat(id)}/compressions/${task}`);
export const compressionEvents = (id: string, task: string) => `${chat(id)}/compressions/${task}/events`;

export const readSnapshot = (id: string, one: string) => request<SnapshotFull>("GET", snapshot(id, one));
export const readReceipt = (id: string, one: string) => request<Receipt>("GET", `${snapshot(id, one)}/receipt`);
export const undoSnapshot = (id: string, one: string) =>
  request<SnapshotMoved>("POST", `${snapshot(id, one)}/undo`);
export const useSnapshot = (id: string, one: string) => request<SnapshotMoved>("POST", `${snapshot(id, one)}/use`);
export const editSummary = (id: string, one: string, summary: string) =>
  request<SnapshotFull>("PUT", `${snapshot(id, one)}/summary`, { body: { summary } });
export const measureSummary = (id: string, one: string, summary: string, signal: AbortSignal) =>
  request<SummarySize>("POST", `${snapshot(id, one)}/summary/size`, { body: { summary }, signal });
export const restoreFact = (id: string, one: string, item: string) =>
  request<SnapshotFull>("POST", `${snapshot(id, one)}/restore`, { body: { item } });
export const dropLine = (id: string, one: string, message: string, text: string) =>
  request<SnapshotFull>("POST", `${snapshot(id, one)}/drop`, { body: { message, text } });
export const findRecalled = (id: string, words: string) =>
  request<Recalled>("GET", `${chat(id)}/recall`, { query: { words } });

export const listPins = (id: string) => request<Pins>("GET", `${chat(id)}/pins`);
export const addPin = (id: string, message: string, selection: string) =>
  request<Pins>("POST", `${chat(id)}/pins`, { body: { message, selection } });
export const removePins = (id: string, message: string) => request<void>("DELETE", `${chat(id)}/pins/${message}`);
