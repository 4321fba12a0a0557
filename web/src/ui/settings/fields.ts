/** Every setting, as it is asked for; the order is that of the page. */

import type { SettingsIn } from "../../api/types";
import type { Level } from "../../state/effects/settings";

export type SettingName = keyof SettingsIn;
export type Kind = "switch" | "choice" | "number" | "model" | "text" | "prompt";

export interface Field {
  name: SettingName;
  label: string;
  hint: string;
  kind: Kind;
  choices?: string[];
  /** Levels where it means nothing. */
  not?: Level["name"];
}

export const PROMPTS = ["default", "code", "state", "dense", "chat"];

export const GROUPS: { title: string; fields: Field[] }[] = [
  {
    title: "Folding",
    fields: [
      { name: "auto", label: "Fold automatically", hint: "Off: only the hard mark still guards.", kind: "switch" },
      {
        name: "policy",
        label: "Policy",
        hint: "A whole way of folding; what is set below changes parts of it.",
        kind: "choice",
        choices: ["octavo", "onyx", "wave", "requirements", "gemini"],
      },
      { name: "prepare", label: "Prepare mark", hint: "Share of the room from which a fold is prepared; 1: never.", kind: "number" },
      { name: "soft", label: "Soft mark", hint: "Share from which it is folded between turns; 1: never.", kind: "number" },
      { name: "hard", label: "Hard mark", hint: "Share from which it is folded before sending, always.", kind: "number" },
      { name: "retained", label: "Kept word for word", hint: "Tokens, or a share of the history below 1.", kind: "number" },
      { name: "minimum", label: "Smallest conversation", hint: "Tokens below which nothing is folded by itself.", kind: "number" },
    ],
  },
  {
    title: "Summaries",
    fields: [
      {
        name: "summariser",
        label: "Summariser",
        hint: "A model; `same`: the one that answers; `none`: exact lines only. Unset: the provider's cheap one.",
        kind: "model",
      },
      { name: "prompt", label: "Prompt template", hint: "What the summariser is asked for.", kind: "prompt" },
      { name: "instructions", label: "Custom instructions", hint: "What every summary is told to keep.", kind: "text" },
      { name: "notifications", label: "Tell when it was folded", hint: "A short message at the edge.", kind: "switch" },
    ],
  },
  {
    title: "Answers",
    fields: [
      { name: "model", label: "Model", hint: "The one that answers.", kind: "model", not: "model" },
      { name: "system", label: "System prompt", hint: "Sent before everything else.", kind: "text" },
      { name: "reply", label: "Kept free for the reply", hint: "Tokens; unset: what the model can write.", kind: "number" },
    ],
  },
];
