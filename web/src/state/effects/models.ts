/** Which models there are, and which one answers. */

import * as api from "../../api/client";
import { dispatch, state } from "../store";
import { loadMeter } from "./chat";
import { report } from "./toast";

export async function loadModels(): Promise<void> {
  try {
    dispatch({ type: "models/loaded", models: await api.listModels() });
  } catch (error) {
    report(error);
  }
}

/** See to it that some model answers in the open conversation: it may have been begun without one. */
export async function haveModel(): Promise<void> {
  // Whoever is quick sends before these are there.
  if (!state().models) await loadModels();
  const { chat, chosen } = state();
  if (!chat || !chosen) return;
  const settings = chat.settings ?? (await api.readSettings(chat.id).catch(() => null));
  if (settings && !settings.effective.model) await chooseModel(chosen);
}

/** Choose for the open conversation, or for the next one. */
export async function chooseModel(model: string): Promise<void> {
  const { chat, route } = state();
  if (route.name === "home" || !chat) {
    dispatch({ type: "models/chosen", model });
    return;
  }
  try {
    const settings = await api.changeSettings(chat.id, { model });
    dispatch({ type: "chat/settings", id: chat.id, settings });
    await loadMeter(chat.id);
  } catch (error) {
    report(error);
  }
}
