/** One conversation: its head with the meter, its timeline, its input. */

import { useStore } from "../../state/store";
import { Composer } from "../composer/Composer";
import { LeftBehind } from "../compression/LeftBehind";
import { SelectionPin } from "../compression/SelectionPin";
import { Announcer } from "./Announcer";
import { ChatHeader } from "./ChatHeader";
import { Gone } from "./Gone";
import { Timeline } from "./Timeline";

export function ChatView({ id }: { id: string }) {
  const chat = useStore((state) => state.chat);
  if (!chat || chat.id !== id) return null;
  if (chat.status === "missing" || chat.status === "deleted") return <Gone id={id} back={chat.status === "deleted"} />;
  return (
    <>
      <ChatHeader chat={chat} />
      <Timeline chat={chat} />
      <LeftBehind chat={chat} />
      <Composer draft={id} turn={chat.turn} />
      <SelectionPin id={id} />
      <Announcer chat={chat} />
    </>
  );
}
