/** One part of a message: words, thoughts, a call of a tool and its result, an image, a file. */

import type { Message, Part } from "../../../api/types";
import { Markdown } from "../Markdown";
import { AttachedFile } from "./AttachedFile";
import { Collapsed } from "./Collapsed";
import { Picture } from "./Picture";
import { TextPart } from "./TextPart";

interface Props {
  part: Part;
  role: Message["role"];
  conversation: string;
  message: string;
  /** Its number among the parts of the message; -1 inside of another part. */
  index?: number;
}

const LOCAL_IMAGE = /^(data:image\/|blob:)/i;

export function PartView({ part, role, conversation, message, index = -1 }: Props) {
  switch (part.type) {
    case "text":
      return <TextPart text={part.text} plain={role === "user"} conversation={conversation} message={message} />;
    case "reasoning":
      return (
        <Collapsed title="Reasoning">
          <Markdown text={part.text} />
        </Collapsed>
      );
    case "tool_call":
      return (
        <Collapsed title="Called" name={part.name}>
          <pre tabIndex={0}>{part.input}</pre>
        </Collapsed>
      );
    case "tool_result":
      return (
        <Collapsed title={part.error ? "Failed" : "Result"} name={part.name}>
          {part.content.map((piece, index) =>
            piece.type === "text" ? (
              <pre key={index} tabIndex={0}>
                {piece.text}
              </pre>
            ) : (
              <PartView key={index} part={piece} role={role} conversation={conversation} message={message} />
            ),
          )}
        </Collapsed>
      );
    case "image":
      // An image elsewhere is not fetched: opening a conversation asks nobody for anything.
      return LOCAL_IMAGE.test(part.source) || (!part.source && index >= 0) ? (
        <Picture source={part.source} conversation={conversation} message={message} part={index} />
      ) : (
        <p className="file">
          Image <bdi>{part.source || part.media_type}</bdi>
        </p>
      );
    case "attachment":
      return <AttachedFile name={part.name} kind={part.media_type} size={part.size} source={part.source} />;
    case "other":
      return <p className="file">{part.kind}</p>;
  }
}
