/** What happens when the page opens, and when somebody comes back to it. */

import { state } from "../store";
import { refresh } from "./chat";
import { loadConversations, reloadConversations } from "./conversations";
import { loadModels } from "./models";
import { revealAddress } from "./reveal";
import { readRoute, show } from "./route";
import { hearTabs } from "./tabs";

export function start(): void {
  addEventListener("popstate", () => {
    show(readRoute(location.pathname));
    revealAddress();
  });
  document.addEventListener("visibilitychange", lookAgain);
  hearTabs(() => void reloadConversations());
  show(readRoute(location.pathname));
  revealAddress();
  void loadModels();
  void loadConversations("", false);
}

/** Back in sight. A browser may have put the page, and what it listens to, to sleep. */
function lookAgain(): void {
  const { chat } = state();
  if (document.visibilityState !== "visible") return;
  void reloadConversations();
  if (chat?.status === "ready" && !chat.turn) void refresh(chat.id);
}
