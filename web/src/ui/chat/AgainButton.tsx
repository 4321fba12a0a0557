/** Begins another version: of a question by writing it anew, of an answer by asking for another. */

import { beginEdit } from "../../state/effects/branches";
import { regenerate } from "../../state/effects/turns";
import { useStore } from "../../state/store";
import type { ShownMessage } from "../../state/types";
import { Icon } from "../kit/Icon";

export function AgainButton({ message }: { message: ShownMessage }) {
  const id = useStore((state) => state.chat?.id);
  const busy = useStore((state) => Boolean(state.chat?.turn));
  const mine = message.role === "user";
  if (!id || (!mine && message.role !== "assistant")) return null;
  const name = mine ? "Edit the message" : "Answer again";
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={name}
      title={name}
      disabled={busy}
      onClick={() => void (mine ? beginEdit(id, message.id) : regenerate(message))}
    >
      <Icon name={mine ? "edit" : "retry"} />
    </button>
  );
}
