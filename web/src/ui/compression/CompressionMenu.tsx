/** What can be done with a compression besides undoing it. */

import type { Snapshot } from "../../api/types";
import { beginSummaryEdit, copySummary, showOriginals } from "../../state/effects/snapshots";
import { dispatch } from "../../state/store";
import type { Chat } from "../../state/types";
import { Icon } from "../kit/Icon";
import { Menu } from "../kit/Menu";

export function CompressionMenu({ snapshot, chat }: { snapshot: Snapshot; chat: Chat }) {
  const { id } = chat;
  const shown = chat.compression.originals;
  return (
    <Menu
      label="This compression"
      button={<Icon name="more" />}
      items={[
        { label: "Edit the summary", run: () => void beginSummaryEdit(id, snapshot) },
        {
          label: "Write it again…",
          run: () => dispatch({ type: "dialog/opened", dialog: { kind: "regenerate", id, snapshot } }),
        },
        { label: "Copy what is sent", run: () => void copySummary(id, snapshot) },
        { label: shown ? "Hide the originals" : "Show the originals", run: () => showOriginals(id, !shown) },
      ]}
    />
  );
}
