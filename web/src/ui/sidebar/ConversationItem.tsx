/** One conversation in the list, with its menu; renamed in place. */

import { useState } from "react";
import type { Conversation } from "../../api/types";
import { plural } from "../../lib/format";
import {
  archiveConversation,
  deleteConversation,
  renameConversation,
  titleOf,
} from "../../state/effects/conversations";
import { askToCompress } from "../../state/effects/fold";
import { go, pathOf } from "../../state/effects/route";
import { Icon } from "../kit/Icon";
import { Menu } from "../kit/Menu";
import { TitleField } from "./TitleField";

export function ConversationItem({ conversation, open }: { conversation: Conversation; open: boolean }) {
  const [renaming, setRenaming] = useState(false);
  const route = { name: "chat", id: conversation.id } as const;
  if (renaming)
    return (
      <li className="conversation renaming">
        <TitleField
          title={conversation.title}
          done={(title) => {
            setRenaming(false);
            if (title !== null) void renameConversation(conversation, title);
          }}
        />
      </li>
    );
  return (
    <li className={open ? "conversation open" : "conversation"}>
      <a
        href={pathOf(route)}
        aria-current={open ? "page" : undefined}
        title={plural(conversation.messages, "message")}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          go(route);
        }}
      >
        <bdi>{titleOf(conversation)}</bdi>
      </a>
      <Menu
        label={`Actions for ${titleOf(conversation)}`}
        button={<Icon name="more" />}
        items={[
          { label: "Summarize conversation history", run: () => askToCompress(conversation.id) },
          { label: "Rename", run: () => setRenaming(true) },
          {
            label: conversation.archived ? "Take out of the archive" : "Archive",
            run: () => void archiveConversation(conversation, !conversation.archived),
          },
          { label: "Delete", danger: true, run: () => deleteConversation(conversation) },
        ]}
      />
    </li>
  );
}
