/** What streams tell: one union for turns and compressions, one for a conversation's own channel. */

import type { Passage, Snapshot, StoredMessage, Usage } from "./types";

export interface ReplyTold {
  finish: "stop" | "length" | "tool_calls" | "refusal" | "cancelled";
  model: string;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
}

export interface Flaw {
  flaw: string;
  detail: string;
}

export type Outcome =
  | {
      outcome: "compressed";
      urgency: string;
      messages: number;
      before: number;
      after: number;
      saved: number;
      snapshot: Snapshot;
      problems: Flaw[];
    }
  | { outcome: "skipped"; reason: string; detail: string }
  | { outcome: "rejected"; problems: Flaw[]; before: number; after: number }
  | { outcome: "failed"; error: string; retryable: boolean }
  | { outcome: "cancelled" };

export interface Failure {
  type: string;
  message: string;
  hint?: string;
  retryable: boolean;
  partial: StoredMessage | null;
}

/** The provider failed before it had said anything, and is asked again. */
export interface Again {
  attempt: number;
  attempts: number;
  /** Seconds until then. */
  wait: number;
  reason: string;
  /** The provider was asked too often, or for too much at once. */
  limited: boolean;
}

export type TaskStatus = "done" | "failed" | "cancelled";

/** Events of a turn or of a compression; the last is always `done`. */
export type TaskEvent =
  | { event: "stored"; data: { message: StoredMessage } }
  | { event: "text_restarted"; data: Record<string, never> }
  | { event: "compression_started"; data: { urgency: string; messages: number; tokens: number } }
  | { event: "summary_text"; data: { text: string } }
  | { event: "summary_restarted"; data: Record<string, never> }
  | { event: "compression_ended"; data: Outcome }
  | { event: "recalled"; data: { message: string; tokens: number; passages: Passage[] } }
  | { event: "repaired"; data: { repairs: { fix: string; index: number; detail: string }[] } }
  | { event: "shrunk"; data: { notes: string[]; before: number; after: number } }
  | { event: "sending"; data: { usage: Usage } }
  | { event: "retrying"; data: Again }
  | { event: "text"; data: { text: string; kind: "text" | "reasoning" } }
  | { event: "answered"; data: { message: StoredMessage; reply: ReplyTold | null } }
  | { event: "failed"; data: Failure }
  | { event: "preparing"; data: { urgency: string } }
  | { event: "waiting"; data: Record<string, never> }
  | { event: "cancelled"; data: Record<string, never> }
  | { event: "done"; data: { status: TaskStatus } };

/** How a conversation stands. */
export interface Standing {
  tip: string | null;
  /** Compressions that run. */
  jobs: string[];
  deleted: boolean;
}

/** What can change; `context`: a snapshot, its undoing, a pin, a deleted message. */
export type What = keyof Standing | "messages" | "context" | "title" | "archived" | "settings";
export type Change = Standing & { what: What[] };

/** Events of a conversation's channel; `state` comes first after every connection. */
export type ChannelEvent =
  | { event: "state"; data: Standing & { snapshot: string | null; turns: string[] } }
  | { event: "changed"; data: Change }
  | { event: "turn_started"; data: { turn: string } }
  | { event: "turn_ended"; data: { turn: string; status: TaskStatus } }
  | { event: "preparing"; data: { urgency: string } }
  | { event: "compression_started"; data: { urgency: string; messages: number; tokens: number } }
  | { event: "compression_ended"; data: Outcome }
  | { event: "shrunk"; data: { notes: string[]; before: number; after: number } };
