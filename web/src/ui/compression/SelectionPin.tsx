/** A button next to words that were selected in a message: pins just these. */

import { useEffect, useState } from "react";
import { pin } from "../../state/effects/pins";
import { state } from "../../state/store";
import { Icon } from "../kit/Icon";

const ROOM = { x: 190, y: 60 };
/** Pixels the button needs to the right and below. */

interface Selected {
  message: string;
  text: string;
  x: number;
  y: number;
}

export function SelectionPin({ id }: { id: string }) {
  const [selected, select] = useState<Selected | null>(null);
  useEffect(() => {
    const look = () => select(selectedWords());
    const scrolled = () => select(null);
    document.addEventListener("selectionchange", look);
    document.addEventListener("scroll", scrolled, true);
    return () => {
      document.removeEventListener("selectionchange", look);
      document.removeEventListener("scroll", scrolled, true);
    };
  }, []);
  const message = selected && state().chat?.messages.find((one) => one.id === selected.message);
  if (!selected || !message) return null;
  return (
    <button
      type="button"
      className="button small selection-pin"
      style={{ insetInlineStart: selected.x, insetBlockStart: selected.y }}
      // Pressing it must not take the selection away.
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => {
        void pin(id, message, selected.text);
        getSelection()?.removeAllRanges();
      }}
    >
      <Icon name="pin" />
      Pin the selection
    </button>
  );
}

/** The selection, if all of it lies in the words of one message. */
function selectedWords(): Selected | null {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const [from, to] = [bodyOf(selection.anchorNode), bodyOf(selection.focusNode)];
  const message = from?.closest<HTMLElement>("[data-message]")?.dataset["message"];
  const text = selection.toString();
  if (!message || from !== to || !text.trim()) return null;
  const place = selection.getRangeAt(0).getBoundingClientRect();
  // On a small screen the end of the selection may be under the input, or next to the edge.
  const x = Math.max(0, Math.min(place.left, innerWidth - ROOM.x));
  return { message, text, x, y: Math.max(0, Math.min(place.bottom, innerHeight - ROOM.y)) };
}

function bodyOf(node: Node | null): Element | null {
  return (node instanceof Element ? node : node?.parentElement)?.closest(".message-body") ?? null;
}
