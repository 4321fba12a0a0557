/** Settings, model cards and keys: read and change them; what is refused comes back with its reason. */

import * as api from "../../api/client";
import * as desk from "../../api/desk";
import { Problem } from "../../api/problem";
import type { CardIn, Key, KeyIn, KeyMade, Settings, SettingsIn } from "../../api/types";
import { distance } from "../../lib/distance";
import { reasonOf, type Reason } from "../../lib/reason";
import { dispatch, state } from "../store";
import { loadMeter } from "./chat";
import { loadModels } from "./models";
import { report, toast } from "./toast";

/** Where a setting is set. */
export type Level = { name: "everything" } | { name: "model"; model: string } | { name: "conversation"; id: string };
export type Answer<T> = { value: T } | { refused: Reason };

function pathOf(level: Level): string {
  switch (level.name) {
    case "everything":
      return "settings";
    case "model":
      return `settings/models/${desk.modelPath(level.model)}`;
    case "conversation":
      return `conversations/${level.id}/settings`;
  }
}

/** A missing key is asked for; every other refusal is shown where the value is. */
async function attempt<T>(call: Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof Problem) || error.status === 401) report(error);
    return { refused: reasonOf((error as Problem).detail.message) };
  }
}

export const readLevel = (level: Level): Promise<Answer<Settings>> => attempt(desk.readLevel(pathOf(level)));

/** Change settings; `null` removes one. What is on screen of the open conversation is made true again. */
export async function changeLevel(level: Level, change: SettingsIn): Promise<Answer<Settings>> {
  const answer = await attempt(desk.changeLevel(pathOf(level), change));
  if ("value" in answer) await renew();
  return answer;
}

/** What a value would lead to in a conversation, in words; empty where it cannot be told. */
export async function tryOut(id: string, change: SettingsIn, signal: AbortSignal): Promise<string> {
  try {
    return distance(await api.tryUsage(id, change, signal), "would compress");
  } catch (error) {
    // A value that is refused says so when it is saved.
    if (!signal.aborted && !(error instanceof Problem)) throw error;
    return "";
  }
}

/** Whether something is recalled under settings of a conversation. */
export const recalls = ({ own, inherited }: Pick<Settings, "own" | "inherited">): boolean =>
  !NOTHING.includes(own["recall"] ?? inherited["recall"]);
const NOTHING: unknown[] = ["off", 0];

/** Turn recall on or off in a conversation: on is what it inherits, unless that is off. */
export async function setRecall(id: string, on: boolean): Promise<void> {
  const inherited = state().chat?.settings?.inherited ?? {};
  const recall = !on ? "off" : recalls({ own: {}, inherited }) ? null : "auto";
  const answer = await changeLevel({ name: "conversation", id }, { recall });
  if ("refused" in answer) toast({ tone: "error", text: answer.refused.text });
}

async function renew(): Promise<void> {
  const id = state().chat?.id;
  try {
    await loadModels();
    if (!id) return;
    dispatch({ type: "chat/settings", id, settings: await api.readSettings(id) });
    await loadMeter(id);
  } catch (error) {
    report(error);
  }
}

export async function defineCard(name: string, card: CardIn): Promise<Answer<unknown>> {
  const answer = await attempt(desk.defineModel(name, card));
  if ("value" in answer) await renew();
  return answer;
}

export async function removeCard(name: string): Promise<void> {
  try {
    await desk.removeModel(name);
    await renew();
  } catch (error) {
    report(error);
  }
}

export const listKeys = (): Promise<Answer<Key[]>> => attempt(desk.listKeys().then((found) => found.keys));
export const createKey = (key: KeyIn): Promise<Answer<KeyMade>> => attempt(desk.createKey(key));
export const revokeKey = (id: string): Promise<Answer<Key>> => attempt(desk.revokeKey(id));
