/** In the toolbar: how much is folded, and the button that folds. */

import { count } from "../../lib/format";
import { askToCompress } from "../../state/effects/fold";
import { showFold } from "../../state/effects/snapshots";
import { useStore } from "../../state/store";
import { servingOf } from "../../state/timeline";
import type { Chat } from "../../state/types";
import { Icon } from "../kit/Icon";

export function FoldTools({ chat }: { chat: Chat }) {
  const folding = useStore((state) => state.foldings[chat.id]);
  const serving = servingOf(chat);
  const running = folding !== undefined && !folding.outcome;
  const label = running ? "Summarizing: show how far it is" : "Summarize conversation history";
  return (
    <>
      {serving && (
        <button
          type="button"
          className="fold-chip"
          aria-label={`${count(serving.messages)} folded: show the summary`}
          onClick={() => void showFold(chat.id)}
        >
          <b className="fold-badge">{count(serving.messages)}</b> folded
        </button>
      )}
      <button
        type="button"
        className={running ? "icon-button busy" : "icon-button"}
        aria-label={label}
        title={label}
        onClick={() => askToCompress(chat.id)}
      >
        <Icon name="fold" />
      </button>
    </>
  );
}
