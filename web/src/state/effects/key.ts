/** The key of this tab. */

import * as api from "../../api/client";
import { setKey } from "../../api/http";
import { Problem } from "../../api/problem";

/** Use a key from now on; gives why the server refuses it, or null when it does not. */
export async function tryKey(key: string): Promise<string | null> {
  setKey(key);
  try {
    await api.readCaller();
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { message, hint } = error.detail;
    return hint ? `${message}: ${hint}` : message;
  }
}
