/** What can be done about an answer that is not there, or broke off: ask again, or let it go on. */

import { goOn, retry } from "../../../state/effects/turns";
import { useStore } from "../../../state/store";
import type { ShownMessage } from "../../../state/types";
import { Icon } from "../../kit/Icon";

export const brokeOff = (message: ShownMessage | undefined): boolean =>
  message?.role === "assistant" && message.status === "aborted";

export function AgainActions() {
  const unfinished = useStore((state) => brokeOff(state.chat?.messages.at(-1)));
  return (
    <>
      <button type="button" className="button small" onClick={retry}>
        <Icon name="retry" />
        Try again
      </button>
      {unfinished && (
        <button type="button" className="button small" onClick={goOn}>
          Continue
        </button>
      )}
    </>
  );
}
