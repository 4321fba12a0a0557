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
