/** Which component shows which kind of row. */

import type { Row } from "../../../state/timeline";
import type { Chat } from "../../../state/types";
import { CompressionRow } from "../../compression/CompressionRow";
import { RunningRow } from "../../compression/RunningRow";
import { UndoneRow } from "../../compression/UndoneRow";
import { AgainActions } from "./AgainActions";
import { EditRow } from "./EditRow";
import { FailureRow } from "./FailureRow";
import { MessageRow } from "./MessageRow";
import { PendingRow } from "./PendingRow";
import { RecalledRow } from "./RecalledRow";
import { TurnRow } from "./TurnRow";

export function TimelineRow({ row, chat }: { row: Row; chat: Chat }) {
  switch (row.kind) {
    case "message":
      if (chat.editing?.message === row.message.id) return <EditRow editing={chat.editing} conversation={chat.id} />;
      return <MessageRow message={row.message} conversation={chat.id} />;
    case "recalled":
      return <RecalledRow message={row.message} passages={row.passages} chat={chat} />;
    case "snapshot":
      return <CompressionRow snapshot={row.snapshot} chat={chat} />;
    case "running":
      return <RunningRow id={chat.id} compression={row.compression} />;
    case "undone":
      return <UndoneRow snapshot={row.snapshot} conversation={chat.id} />;
    case "pending":
      return <PendingRow text={row.text} />;
    case "turn":
      return <TurnRow turn={row.turn} />;
    case "unanswered":
      return (
        <div className="unfinished">
          <p>Not answered.</p>
          <AgainActions />
        </div>
      );
    case "failure":
      return <FailureRow trouble={row.trouble} />;
  }
}
