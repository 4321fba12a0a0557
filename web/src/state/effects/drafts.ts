/** What is in the input, in the state and in the browser's own storage. */

import { keepDraft } from "../../lib/drafts";
import { dispatch } from "../store";

export const NEW = "new";

export function setDraft(key: string, text: string): void {
  dispatch({ type: "draft/changed", key, text });
  keepDraft(key, text);
}
