/** What happens when the page opens, and when it goes away. */

import { deleteHidden, loadConversations } from "./conversations";
import { loadModels } from "./models";
import { readRoute, show } from "./route";
import { lookAgain } from "./snapshots";

export function start(): void {
  addEventListener("popstate", () => show(readRoute(location.pathname)));
  addEventListener("pagehide", deleteHidden);
  document.addEventListener("visibilitychange", lookAgain);
  show(readRoute(location.pathname));
  void loadModels();
  void loadConversations("", false);
}
