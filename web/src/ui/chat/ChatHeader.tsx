/** The title, the connection, and the meter, which is always in sight. */

import type { Chat } from "../../state/types";
import { titleOf } from "../../state/effects/conversations";
import { CompressionTools } from "../compression/CompressionTools";
import { Meter } from "../meter/Meter";
import { BranchesButton } from "./BranchesButton";
import { ChatTools } from "./ChatTools";
import { Connection } from "./Connection";
import { SidebarButton } from "./SidebarButton";

export function ChatHeader({ chat }: { chat: Chat }) {
  return (
    <header className="chat-head">
      <SidebarButton />
      <h1>
        <bdi>{chat.info ? titleOf(chat.info) : "…"}</bdi>
      </h1>
      <Connection />
      <div className="chat-tools">
        <BranchesButton />
        <CompressionTools chat={chat} />
        <ChatTools id={chat.id} />
        <Meter usage={chat.drafted ?? chat.usage} preparing={chat.preparing} drafted={chat.drafted !== null} />
      </div>
    </header>
  );
}
