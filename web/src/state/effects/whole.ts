/** The words of a message in full, where a page holds their beginning only. */

import * as api from "../../api/client";
import { isShortened } from "../../lib/shortened";
import { state } from "../store";
import type { ShownMessage } from "../types";
import { report } from "./toast";

/** Null when they cannot be had. */
export async function wholeText(message: ShownMessage): Promise<string | null> {
  const id = state().chat?.id;
  if (!id || !isShortened(message.text)) return message.text;
  try {
    return (await api.readMessage(id, message.id)).text;
  } catch (error) {
    report(error);
    return null;
  }
}
