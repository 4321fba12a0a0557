/** Tabs of one browser tell each other when the list of conversations changed; no event of the server does. */

const channel = new BroadcastChannel("octavo");

export const tellTabs = (): void => channel.postMessage("conversations");

/** One that is out of sight looks again when it is seen. */
export function hearTabs(changed: () => void): void {
  channel.onmessage = () => {
    if (document.visibilityState === "visible") changed();
  };
}
