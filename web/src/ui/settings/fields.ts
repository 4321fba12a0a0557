/** The settings as the page asks for them, group by group; what they are is the table of the server. */

import { SETTINGS } from "../../api/settings";
import type { Level } from "../../state/effects/settings";

export type Field = (typeof SETTINGS)[number];
export type SettingName = Field["name"];

const LEVELS: Record<Level["name"], Field["levels"][number]> = {
  everything: "everywhere",
  model: "model",
  conversation: "conversation",
};
const TITLES = ["Compression", "Summaries", "Answers"] as const;

/** Give the groups of a level; a setting that means nothing there is left out. */
export function groupsOf(level: Level["name"]): { title: string; fields: Field[] }[] {
  const here = (field: Field) => (field.levels as readonly string[]).includes(LEVELS[level]);
  return TITLES.map((title) => ({ title, fields: SETTINGS.filter((field) => field.group === title && here(field)) }));
}
