/** Finds conversations by title, and switches to the archived ones. */

import { useEffect, useState } from "react";
import { loadConversations } from "../../state/effects/conversations";
import { useStore } from "../../state/store";
import { Icon } from "../kit/Icon";

const PAUSE = 150;
/** Milliseconds after the last key before the server is asked. */

export function ConversationSearch() {
  const { query, archived } = useStore((state) => state.conversations);
  const [text, change] = useState(query);
  useEffect(() => {
    if (text === query) return;
    const timer = setTimeout(() => void loadConversations(text, archived), PAUSE);
    return () => clearTimeout(timer);
  }, [text, query, archived]);
  return (
    <div className="search" role="search">
      <Icon name="search" />
      <input
        id="find-conversation"
        type="search"
        aria-label="Find a conversation"
        placeholder="Find a conversation"
        value={text}
        onChange={(event) => change(event.target.value)}
      />
      <button
        type="button"
        className="icon-button"
        aria-label="Archived conversations"
        aria-pressed={archived}
        title="Archived conversations"
        onClick={() => void loadConversations(text, !archived)}
      >
        <Icon name="archive" />
      </button>
    </div>
  );
}
