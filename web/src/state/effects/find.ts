/** Finds conversations by title and messages by their words. */

import * as api from "../../api/client";
import type { Conversation, Hit } from "../../api/types";
import { report } from "./toast";

const TITLES = 5;
/** Conversations shown: the list at the side has all of them. */
const HITS = 20;
/** Messages shown: whoever needs more types another word. */

export interface Found {
  conversations: Conversation[];
  hits: Hit[];
}

/** Null when another search has begun, or this one failed. */
export async function find(text: string, signal: AbortSignal): Promise<Found | null> {
  const query = { title: text, archived: false, limit: TITLES, offset: 0 };
  try {
    const [listed, { hits }] = await Promise.all([
      api.listConversations(query, signal),
      text ? api.search(text, HITS, signal) : { hits: [] },
    ]);
    return { conversations: listed.conversations, hits };
  } catch (error) {
    if (!signal.aborted) report(error);
    return null;
  }
}
