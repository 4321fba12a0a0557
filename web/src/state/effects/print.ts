/** Printing: everything that was said goes onto paper, also what is not loaded yet and what is shown shortened. */

import { isShortened } from "../../lib/shortened";
import { state } from "../store";
import { loadOlder, loadWhole } from "./chat";

export async function printAll(): Promise<void> {
  const id = state().chat?.id;
  if (id) await loadEverything(id);
  if (state().chat?.id === id) print();
}

async function loadEverything(id: string): Promise<void> {
  for (;;) {
    const { chat } = state();
    const { before } = chat ?? {};
    if (chat?.id !== id || !before) break;
    await loadOlder();
    // It failed, which was told: what is there is printed, with a note.
    if (state().chat?.before === before) break;
  }
  const short = state().chat?.messages.filter((one) => isShortened(one.text)) ?? [];
  for (const one of short) await loadWhole(id, one.id);
}
