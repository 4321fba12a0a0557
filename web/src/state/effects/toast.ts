/** Short news at the edge of the screen. */

import { Problem } from "../../api/problem";
import { dispatch, state } from "../store";
import type { Toast } from "../types";

let last = 0;

export function toast(news: Omit<Toast, "id">): number {
  last += 1;
  dispatch({ type: "toast/added", toast: { ...news, id: last } });
  return last;
}

export const tellProgress = (id: number, progress: number): void => dispatch({ type: "toast/progress", id, progress });

export const dismiss = (id: number): void => dispatch({ type: "toast/removed", id });

export function act(id: number): void {
  const found = state().toasts.find((one) => one.id === id);
  dispatch({ type: "toast/removed", id });
  found?.action?.run();
}

/** Show what went wrong with something the user asked for; anything else is a bug and is thrown on. */
export function report(error: unknown): void {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 401) {
    dispatch({ type: "dialog/opened", dialog: { kind: "key", reason: error.detail.message } });
    return;
  }
  if (error.offline) dispatch({ type: "connection/changed", online: false });
  toast({ tone: "error", text: error.detail.message, detail: error.detail.hint });
}
