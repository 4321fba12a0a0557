/** Everything that is stored of a branch, and exactly what would be sent of it. */

import * as api from "../../api/client";
import * as desk from "../../api/desk";
import { Problem } from "../../api/problem";
import type { Context, Hit, Message, MessagePage } from "../../api/types";
import { dispatch } from "../store";
import { report } from "./toast";

const PAGE = 1_000;
/** Messages asked for at a time: as many as the server gives, since somebody wants to see them all. */
const HITS = 200;
/** The most a search gives. */

export function openHistory(id: string, view: "all" | "sent"): void {
  dispatch({ type: "dialog/opened", dialog: { kind: "history", id, view } });
}

/** Give the messages before one, or the newest; null when there was trouble, which was reported. */
export const readPage = (id: string, before: string | null): Promise<MessagePage | null> =>
  shown(api.listMessages(id, before ? { before, limit: PAGE } : { limit: PAGE }));

export const readWhole = (id: string, message: string): Promise<Message | null> => shown(api.readMessage(id, message));

/** Without a model nothing can be sent: the reason is given instead. */
export async function readContext(id: string): Promise<Context | string> {
  try {
    return await desk.readContext(id);
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 401) report(error);
    return (error as Problem).detail.message;
  }
}

export async function findIn(id: string, words: string, signal: AbortSignal): Promise<Hit[] | null> {
  try {
    return (await desk.searchMessages(id, words, HITS, signal)).hits;
  } catch (error) {
    if (!signal.aborted) report(error);
    return null;
  }
}

async function shown<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    report(error);
    return null;
  }
}
