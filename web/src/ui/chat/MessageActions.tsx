/** What can be done with a message: a quiet row below it. Further actions go here, one component each. */

import { linkTo } from "../../state/effects/reveal";
import { useStore } from "../../state/store";
import { wholeText } from "../../state/effects/whole";
import type { ShownMessage } from "../../state/types";
import { PinButton } from "../compression/PinButton";
import { CopyButton } from "../kit/CopyButton";
import { AgainButton } from "./AgainButton";
import { Versions } from "./Versions";

export function MessageActions({ message }: { message: ShownMessage }) {
  const id = useStore((state) => state.chat?.id);
  return (
    <div className="message-actions">
      <Versions message={message} />
      {message.text && <CopyButton text={() => wholeText(message)} label="Copy the message" />}
      {id && <CopyButton text={() => Promise.resolve(linkTo(id, message.id))} label="Copy a link to the message" icon="link" />}
      <PinButton message={message} />
      <AgainButton message={message} />
    </div>
  );
}
