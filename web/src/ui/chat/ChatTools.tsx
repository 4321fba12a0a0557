/** Ways from a conversation to all that is stored of it, and to its settings. */

import { openHistory } from "../../state/effects/history";
import { dispatch } from "../../state/store";
import { Icon } from "../kit/Icon";

export function ChatTools({ id }: { id: string }) {
  return (
    <>
      <button type="button" className="icon-button tool" aria-label="View full history" title="View full history" onClick={() => openHistory(id, "all")}>
        <Icon name="book" />
        <span className="tool-word">History</span>
      </button>
      <button
        type="button"
        className="icon-button tool"
        aria-label="Settings of this conversation"
        title="Settings of this conversation"
        onClick={() => dispatch({ type: "dialog/opened", dialog: { kind: "settings", tab: "conversation" } })}
      >
        <Icon name="gear" />
        <span className="tool-word">Settings</span>
      </button>
    </>
  );
}
