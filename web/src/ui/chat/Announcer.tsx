/** Tells a screen reader what others see: that an answer is being made, and that it is there. */

import { useEffect, useRef, useState } from "react";
import type { Chat, Turn } from "../../state/types";

/** How an answer ended; without a failure it was either stopped, or it is there. */
function ending(chat: Chat, turn: Turn): string {
  if (chat.failure) return "The answer failed";
  return turn.stopping ? "Stopped" : "The answer is there";
}

export function Announcer({ chat }: { chat: Chat }) {
  const [news, tell] = useState("");
  const before = useRef(chat.turn);
  useEffect(() => {
    if (chat.turn?.phase === "compressing" && before.current?.phase !== "compressing") tell("Compressing older messages");
    else if (chat.turn && !before.current) tell("Answering");
    else if (!chat.turn && before.current) tell(ending(chat, before.current));
    before.current = chat.turn;
  }, [chat.turn, chat.failure]);
  return (
    <p className="unseen" role="status">
      {news}
    </p>
  );
}
