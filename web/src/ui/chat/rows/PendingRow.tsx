/** What was just sent, until the server says that it is stored. */

import { useStore } from "../../../state/store";

export function PendingRow({ text }: { text: string }) {
  const online = useStore((state) => state.online);
  return (
    <article className={online ? "message user pending" : "message user pending waiting"} aria-label="You" aria-busy="true">
      <div className="message-body" dir="auto">
        <p className="plain">{text}</p>
      </div>
    </article>
  );
}
