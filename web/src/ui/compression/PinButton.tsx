/** Pins a message, or the words of it that are selected; what is pinned is always sent word for word. */

import { pin, unpin } from "../../state/effects/pins";
import { useStore } from "../../state/store";
import type { ShownMessage } from "../../state/types";
import { Icon } from "../kit/Icon";

export function PinButton({ message }: { message: ShownMessage }) {
  const id = useStore((state) => state.chat?.id);
  const found = useStore((state) => state.chat?.compression.pins.find((one) => one.message === message.id));
  if (!id || !message.text) return null;
  const part = found && found.stop > 0;
  const label = part ? "Part pinned: unpin the selection" : found ? "Pinned: unpin the message" : "Pin the message";
  return (
    <button
      type="button"
      className="icon-button pin"
      aria-pressed={found !== undefined}
      aria-label={label}
      title={label}
      onClick={() => void (found ? unpin(id, message.id) : pin(id, message))}
    >
      <Icon name="pin" />
      {found && <span className="pin-word">{part ? "part pinned" : "pinned"}</span>}
    </button>
  );
}
