/** Words: a person's as they were typed, a model's as Markdown; very long ones are fetched whole on demand. */

import { isShortened } from "../../../lib/shortened";
import { loadWhole } from "../../../state/effects/chat";
import { Markdown } from "../Markdown";

interface Props {
  text: string;
  plain: boolean;
  conversation: string;
  message: string;
}

export function TextPart({ text, plain, conversation, message }: Props) {
  return (
    <>
      {plain ? <p className="plain">{text}</p> : <Markdown text={text} />}
      {isShortened(text) && (
        <button type="button" className="button quiet small" onClick={() => void loadWhole(conversation, message)}>
          Show all of it
        </button>
      )}
    </>
  );
}
