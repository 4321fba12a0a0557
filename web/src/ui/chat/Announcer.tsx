/** Tells a screen reader what others see: that an answer is being made, and that it is there. */

import { useEffect, useRef, useState } from "react";
import type { Chat } from "../../state/types";

export function Announcer({ chat }: { chat: Chat }) {
  const [news, tell] = useState("");
  const before = useRef(chat.turn);
  useEffect(() => {
    if (chat.turn?.phase === "compressing" && before.current?.phase !== "compressing") tell("Folding older messages");
    else if (chat.turn && !before.current) tell("Answering");
    else if (!chat.turn && before.current) tell(chat.failure ? "The answer failed" : "The answer is there");
    before.current = chat.turn;
  }, [chat.turn, chat.failure]);
  return (
    <p className="unseen" role="status">
      {news}
    </p>
  );
}
