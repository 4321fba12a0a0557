/** One conversation in the list, with its menu; renamed in place. */

import { useState } from "react";
import type { Conversation } from "../../api/types";
import { plural } from "../../lib/format";
import {
  archiveConversation,
  bringBack,
  deleteConversation,
  deleteForGood,
  renameConversation,
  titleOf,
} from "../../state/effects/conversations";
import { askToCompress } from "../../state/effects/compression";
import { go, pathOf } from "../../state/effects/route";
import { dispatch } from "../../state/store";
import { Icon } from "../kit/Icon";
import type { Kind } from "../share/share";
import { Menu, type MenuItem } from "../kit/Menu";
import { TitleField } from "./TitleField";

interface Props {
  conversation: Conversation;
  open: boolean;
  deleted?: boolean;
}

export function ConversationItem({ conversation, open, deleted = false }: Props) {
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
        {conversation.labels.length > 0 && <span className="labels">{conversation.labels.join(" · ")}</span>}
      </a>
      <Menu
        label={`Actions for ${titleOf(conversation)}`}
        button={<Icon name="more" />}
        items={deleted ? waiting(conversation) : usual(conversation, () => setRenaming(true))}
      />
    </li>
  );
}

const saveAs = (conversation: Conversation, kind: Kind): void =>
  void import("../share/share").then(({ save }) => save(conversation, kind));

const usual = (conversation: Conversation, rename: () => void): MenuItem[] => [
  { label: "Compress conversation history", run: () => askToCompress(conversation.id) },
  { label: "Rename", run: rename },
  { label: "Labels", run: () => dispatch({ type: "dialog/opened", dialog: { kind: "labels", conversation } }) },
  { label: "Save as Markdown", run: () => saveAs(conversation, "markdown") },
  { label: "Save as JSON", run: () => saveAs(conversation, "json") },
  { label: "Save as a web page, to share", run: () => saveAs(conversation, "page") },
  { label: "Save as an Octavo file", run: () => saveAs(conversation, "octavo") },
  {
    label: conversation.archived ? "Take out of the archive" : "Archive",
    run: () => void archiveConversation(conversation, !conversation.archived),
  },
  { label: "Delete", danger: true, run: () => void deleteConversation(conversation) },
];

const waiting = ({ id }: Conversation): MenuItem[] => [
  { label: "Bring back", run: () => void bringBack(id) },
  { label: "Delete for good", danger: true, run: () => void deleteForGood(id) },
];
