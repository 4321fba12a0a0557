/** In the toolbar: how much is compressed, and the button that compresses. */

import { count } from "../../lib/format";
import { askToCompress, showRunning } from "../../state/effects/compression";
import { showCompression } from "../../state/effects/snapshots";
import { useStore } from "../../state/store";
import { servingOf } from "../../state/timeline";
import type { Chat } from "../../state/types";
import { Icon } from "../kit/Icon";

export function CompressionTools({ chat }: { chat: Chat }) {
  const compression = useStore((state) => state.compressions[chat.id]);
  const serving = servingOf(chat);
  const running = compression !== undefined && !compression.outcome;
  const label = running ? "Compressing: show how far it is" : "Compress conversation history";
  return (
    <>
      {serving && (
        <button
          type="button"
          className="compression-chip"
          aria-label={`${count(serving.messages)} compressed: show the summary`}
          onClick={() => void showCompression(chat.id)}
        >
          <b className="compression-badge">{count(serving.messages)}</b> compressed
        </button>
      )}
      <button
        type="button"
        className={running ? "icon-button tool busy" : "icon-button tool"}
        aria-label={label}
        title={label}
        onClick={() => (running ? showRunning(chat.id) : askToCompress(chat.id))}
      >
        <Icon name="compress" />
        <span className="tool-word">{running ? "Compressing" : "Compress"}</span>
      </button>
    </>
  );
}
