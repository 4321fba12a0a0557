/** Finds words in everything that was said; each hit can be jumped to. */

import { useEffect, useState, type KeyboardEvent } from "react";
import type { Hit } from "../../api/types";
import { count, plural } from "../../lib/format";
import { findIn } from "../../state/effects/history";
import { Icon } from "../kit/Icon";
import { marked } from "../kit/marked";
import { ROLES } from "./HistoryRow";

const PAUSE = 150;
/** Milliseconds after the last key before the server is asked. */

interface Props {
  id: string;
  query: string;
  search: (query: string) => void;
  jump: (hit: Hit) => void;
}

export function HistorySearch({ id, query, search, jump }: Props) {
  const [hits, show] = useState<Hit[] | null>(null);
  const [at, setAt] = useState(-1);
  useEffect(() => {
    show(null);
    setAt(-1);
    if (!query.trim()) return;
    const controller = new AbortController();
    const timer = setTimeout(() => void findIn(id, query, controller.signal).then((found) => found && show(found)), PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [id, query]);
  const go = (to: number) => {
    if (!hits?.length) return;
    const next = (to + hits.length) % hits.length;
    setAt(next);
    jump(hits[next]!);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? at - 1 : at + 1);
  };
  return (
    <div className="history-search" role="search">
      <div className="panel-tools">
        <label className="search">
          <Icon name="search" />
          <span className="unseen">Find in the history</span>
          <input
            type="search"
            placeholder="Find in the history"
            value={query}
            onChange={(event) => search(event.target.value)}
            onKeyDown={pressed}
          />
        </label>
        <span className="history-count" role="status">
          {hits && (at < 0 ? plural(hits.length, "message") : `${count(at + 1)} of ${count(hits.length)}`)}
        </span>
        <button type="button" className="icon-button up" aria-label="Previous hit" disabled={!hits?.length} onClick={() => go(at - 1)}>
          <Icon name="chevron" />
        </button>
        <button type="button" className="icon-button" aria-label="Next hit" disabled={!hits?.length} onClick={() => go(at + 1)}>
          <Icon name="chevron" />
        </button>
      </div>
      {hits && hits.length > 0 && (
        <ol className="hits" aria-label="Hits" tabIndex={0}>
          {hits.map((hit, index) => (
            <li key={hit.message}>
              <button type="button" className={index === at ? "hit at" : "hit"} onClick={() => go(index)}>
                <span className="hit-role">{ROLES[hit.role]}</span>
                <bdi>{marked(hit)}</bdi>
              </button>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
