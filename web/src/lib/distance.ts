/** How far it is to the next compression: in turns, where there were any to go by. */

import type { Usage } from "../api/types";
import { plural } from "./format";

const FAR = 100;
/** Turns: further away, how many more would be a guess from little. */

export function distance({ turns, next_in }: Pick<Usage, "turns" | "next_in">, verb = "compresses"): string {
  if (next_in === 0) return `${verb} with the next turn`;
  if (turns === null) return `${verb} in ${plural(next_in, "token")}`;
  if (turns > FAR) return `${verb} in more than ${FAR} turns`;
  return turns === 0 ? `${verb} in less than a turn` : `${verb} in about ${plural(turns, "turn")}`;
}
