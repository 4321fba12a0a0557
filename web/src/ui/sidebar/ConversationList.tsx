/** The conversations, the last changed first, under the day they were changed on. */

import { useEffect, useRef } from "react";
import type { Conversation } from "../../api/types";
import { period } from "../../lib/format";
import { loadConversations } from "../../state/effects/conversations";
import { useStore } from "../../state/store";
import type { ConversationList as List } from "../../state/types";
import { ConversationItem } from "./ConversationItem";

const DELETED = "Deleted, kept for a day";

export function ConversationList() {
  const list = useStore((state) => state.conversations);
  const open = useStore((state) => (state.route.name === "chat" ? state.route.id : null));
  const groups: [string, Conversation[]][] = [...grouped(list.items)];
  if (list.deleted.length > 0) groups.push([DELETED, list.deleted]);
  return (
    <div className="conversations" aria-busy={list.status === "loading"}>
      {groups.map(([name, items]) => (
        <section key={name} aria-label={name}>
          <h2>{name}</h2>
          <ul>
            {items.map((one) => (
              <ConversationItem key={one.id} conversation={one} open={one.id === open} deleted={name === DELETED} />
            ))}
          </ul>
        </section>
      ))}
      {groups.length === 0 && <p className="empty">{nothing(list)}</p>}
      {list.more && <More more={() => void loadConversations(list.query, list.archived, true)} shown={list.items.length} />}
    </div>
  );
}

/** The next ones are loaded when the end comes into sight; the button is for whoever goes by the keyboard. */
function More({ more, shown }: { more: () => void; shown: number }) {
  const end = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && more());
    if (end.current) watch.observe(end.current);
    return () => watch.disconnect();
  }, [shown]);
  return (
    <button ref={end} type="button" className="button quiet small" onClick={more}>
      Show more
    </button>
  );
}

function grouped(items: Conversation[]): Map<string, Conversation[]> {
  const groups = new Map<string, Conversation[]>();
  for (const one of items) {
    const name = period(one.updated);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return groups;
}

function nothing(list: List): string {
  if (list.status === "loading") return "Loading…";
  if (list.status === "failed") return "The list could not be loaded.";
  if (list.query) return "No title has these words.";
  return list.archived ? "Nothing is archived." : "What you talk about is listed here.";
}
