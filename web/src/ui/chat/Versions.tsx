/** The versions of a message, ‹ 2/3 ›: an edit or another answer is one more. */

import { switchSibling } from "../../state/effects/branches";
import { useStore } from "../../state/store";
import type { ShownMessage } from "../../state/types";
import { Icon } from "../kit/Icon";

export function Versions({ message }: { message: ShownMessage }) {
  const id = useStore((state) => state.chat?.id);
  const busy = useStore((state) => Boolean(state.chat?.turn));
  const { sibling = 1, siblings = 1 } = message;
  if (!id || siblings < 2) return null;
  return (
    <div className="versions" role="group" aria-label="Versions">
      <button
        type="button"
        className="icon-button"
        aria-label="Previous version"
        disabled={busy || sibling <= 1}
        onClick={() => void switchSibling(id, message, -1).then(focusVersions)}
      >
        <Icon name="left" />
      </button>
      <span>
        {sibling}/{siblings}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label="Next version"
        disabled={busy || sibling >= siblings}
        onClick={() => void switchSibling(id, message, 1).then(focusVersions)}
      >
        <Icon name="right" />
      </button>
    </div>
  );
}

/** The other version has buttons of its own: the focus goes on there. */
function focusVersions(message: string | null): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-message="${message}"] .versions button:enabled`)?.focus(),
  );
}
