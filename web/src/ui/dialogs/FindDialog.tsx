/** Finds conversations and messages by typing; arrow keys go through what was found, Enter opens it. */

import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { titleOf } from "../../state/effects/conversations";
import { find, type Found } from "../../state/effects/find";
import { reveal } from "../../state/effects/reveal";
import { go } from "../../state/effects/route";
import { showOriginals } from "../../state/effects/snapshots";
import { closeDialog, Dialog } from "../kit/Dialog";
import { marked } from "../kit/marked";

const PAUSE = 150;
/** Milliseconds after the last key before the server is asked. */

export function FindDialog() {
  const [text, type] = useState("");
  const [found, setFound] = useState<(Found & { text: string }) | null>(null);
  const [at, setAt] = useState(0);
  const [entered, setEntered] = useState(false);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    const asked = new AbortController();
    const timer = setTimeout(
      () => void find(text.trim(), asked.signal).then((now) => now && (setFound({ ...now, text }), setAt(0))),
      text ? PAUSE : 0,
    );
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [text]);
  const titles = found?.conversations ?? [];
  const hits = found?.hits ?? [];
  const total = titles.length + hits.length;
  const open = (index: number) => {
    const title = titles[index];
    const hit = hits[index - titles.length];
    if (!title && !hit) return;
    closeDialog();
    if (title) go({ name: "chat", id: title.id });
    else if (hit) void reveal(hit.conversation, hit.message, hit.depth).then(() => showOriginals(hit.conversation, true));
  };
  // Whoever types and presses Enter at once means what was typed, not what is still shown for an earlier text.
  const current = found?.text === text;
  useEffect(() => {
    if (entered && current) open(at);
    if (current) setEntered(false);
  }, [entered, current]);
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      // Else the key's own work is done where the focus goes back to: a line break in the input.
      event.preventDefault();
      setEntered(true);
    }
    if (!step || !total) return;
    event.preventDefault();
    const next = (at + step + total) % total;
    setAt(next);
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  const option = (index: number) => ({
    id: `${id}-${index}`,
    role: "option",
    "aria-selected": index === at,
    className: index === at ? "found at" : "found",
    onPointerMove: () => setAt(index),
    onClick: () => open(index),
  });
  return (
    <Dialog title="Find" wide>
      <div className="search" role="search">
        <input
          type="text"
          role="combobox"
          aria-label="Find conversations and messages"
          aria-expanded={total > 0}
          aria-controls={total ? `${id}-list` : undefined}
          aria-activedescendant={total ? `${id}-${at}` : undefined}
          placeholder="Words of a title or of a message"
          ref={input}
          value={text}
          onChange={(event) => (type(event.target.value), setEntered(false))}
          onKeyDown={pressed}
        />
      </div>
      {total > 0 && (
        <div id={`${id}-list`} role="listbox" aria-label="Found" className="founds" tabIndex={-1}>
          {titles.length > 0 && (
            <div role="group" aria-label="Conversations">
              {titles.map((one, index) => (
                <div key={one.id} {...option(index)}>
                  <bdi>{titleOf(one)}</bdi>
                </div>
              ))}
            </div>
          )}
          {hits.length > 0 && (
            <div role="group" aria-label="Messages">
              {hits.map((hit, index) => (
                <div key={hit.message} {...option(titles.length + index)}>
                  <bdi className="found-title">{hit.title || "Untitled"}</bdi>
                  <span dir="auto">{marked(hit)}</span>
                </div>
              ))}
            </div>
          )}
        </div>
      )}
      <p className="lead" role="status">
        {current && total === 0 ? "Nothing has these words." : ""}
      </p>
    </Dialog>
  );
}
