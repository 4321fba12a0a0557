/** What stands in an input: its text, the long pastes its placeholders stand for, and the files that go with it. */

import type { PartIn } from "../api/types";
import { NOTHING, type Draft, type Pastes } from "./longtext";

export interface Attached {
  key: string;
  name: string;
  part: PartIn;
}

export interface Extras {
  pastes: Pastes;
  files: readonly Attached[];
}

export interface Entry extends Draft, Extras {}

export const NO_EXTRAS: Extras = { pastes: NOTHING, files: [] };

export interface Editing {
  message: string;
  /** Its words as they are stored. */
  was: string;
  draft: Draft;
  /** The parts that are not words: they stay. */
  others: PartIn[];
}
