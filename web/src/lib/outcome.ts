/** Why a compression made nothing, in words: the cases are told apart, since they ask for different things. */

import type { Outcome } from "../api/events";
import { count } from "./format";

type Ended = Exclude<Outcome, { outcome: "compressed" }> | { outcome: "error"; message: string; hint: string };

export interface Reason {
  title: string;
  detail: string;
  hint: string;
}

export function reasonOf(ended: Ended, small: boolean): Reason {
  switch (ended.outcome) {
    case "skipped":
      return skipped(ended.reason, ended.detail);
    case "rejected":
      return rejected(ended, small);
    case "failed":
      return { title: "The summary could not be made", detail: ended.error, hint: ended.retryable ? "It may work when tried again." : "" };
    case "cancelled":
      return { title: "Cancelled", detail: "", hint: "" };
    case "error":
      return { title: "The summary could not be made", detail: ended.message, hint: ended.hint };
  }
}

function skipped(reason: string, detail: string): Reason {
  if (reason === "nothing" || reason === "too_small")
    return { title: "Too little history to compress", detail, hint: "Talk on, or keep less word for word." };
  if (reason === "busy")
    return { title: "It is being compressed already", detail, hint: "Its card appears when that is done." };
  return { title: "Nothing was compressed", detail, hint: "" };
}

function rejected(ended: Extract<Ended, { outcome: "rejected" }>, small: boolean): Reason {
  const detail = ended.problems.map((one) => one.detail).join("; ");
  if (ended.problems.some((one) => one.flaw === "not_smaller"))
    return {
      title: small ? "Not worth it for so little history" : "The summary did not make it smaller",
      detail: `${count(ended.before)} tokens before, ${count(ended.after)} after.`,
      hint: small ? "Talk on; later it will be." : "Keep less word for word, or give another focus.",
    };
  return { title: "The summary was not good enough", detail, hint: "" };
}
