/** What can be done with a message: a quiet row below it. Further actions go here, one component each. */

import { wholeText } from "../../state/effects/whole";
import type { ShownMessage } from "../../state/types";
import { PinButton } from "../compression/PinButton";
import { CopyButton } from "../kit/CopyButton";
import { AgainButton } from "./AgainButton";
import { Versions } from "./Versions";

export function MessageActions({ message }: { message: ShownMessage }) {
  return (
    <div className="message-actions">
      <Versions message={message} />
      {message.text && <CopyButton text={() => wholeText(message)} label="Copy the message" />}
      <PinButton message={message} />
      <AgainButton message={message} />
    </div>
  );
}
