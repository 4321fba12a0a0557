/** Tabs of one browser tell each other when the list of conversations changed; no event of the server does. */

import { reloadConversations } from "./conversations";

const channel = new BroadcastChannel("octavo");

export const tellTabs = (): void => channel.postMessage("conversations");

/** One that is out of sight looks again when it is seen. */
export function hearTabs(): void {
  channel.onmessage = () => {
    if (document.visibilityState === "visible") void reloadConversations();
  };
}
