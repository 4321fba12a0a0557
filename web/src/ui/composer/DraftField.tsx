/**
 * A field to write in that knows long pastes: each is one placeholder, drawn as a chip, that opens and goes as a whole.
 *
 * The text is the browser's own, so that typing, undo, spelling and screen readers work as everywhere; the chips are
 * painted behind it by a copy of the text.
 */

import { useEffect, useLayoutEffect, useRef, useState, type ChangeEvent, type ClipboardEvent, type KeyboardEvent } from "react";
import { isLong, label, mend, nextNumber, outside, spans, type Draft } from "../../lib/longtext";
import { Chips } from "./Chips";
import { LongTextDialog } from "./LongTextDialog";

interface Props {
  id?: string;
  name: string;
  placeholder?: string;
  draft: Draft;
  change: (draft: Draft) => void;
  send: () => void;
  /** Files that were pasted. */
  files?: (files: FileList) => void;
  /** Other keys; true says that the key is used up. */
  pressed?: (event: KeyboardEvent<HTMLTextAreaElement>) => boolean;
  focus: boolean;
}

export function DraftField(props: Props) {
  const { draft, change } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const copy = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<number | null>(null);
  const now = useRef(draft);
  const last = useRef({ cursor: 0, pointer: false });
  now.current = draft;
  useLayoutEffect(() => fit(area.current), [draft.text]);
  useEffect(() => {
    if (props.focus) area.current?.focus();
  }, [props.focus, props.id]);
  const put = (next: Draft) => {
    now.current = next;
    change(next);
  };
  const changed = ({ target }: ChangeEvent<HTMLTextAreaElement>) => {
    const { text, at } = mend(now.current, target.value, target.selectionEnd);
    if (text !== target.value) {
      target.value = text;
      target.setSelectionRange(at, at);
    }
    put({ ...now.current, text });
  };
  const pasted = (event: ClipboardEvent) => {
    const { files, types } = event.clipboardData;
    const text = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n");
    // A table copied from a spreadsheet comes as a picture too; the words are what is meant.
    const words = text && types.includes("text/html");
    if (props.files && files.length && !words) {
      event.preventDefault();
      props.files(files);
    } else if (isLong(text)) {
      event.preventDefault();
      const number = nextNumber(now.current);
      put({ ...now.current, pastes: { ...now.current.pastes, [number]: text } });
      // Deprecated, and the only way to insert a text that undo can take away again.
      document.execCommand("insertText", false, label(number));
    }
  };
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    last.current.pointer = false;
    // While an input method composes, the keys belong to it.
    if (event.nativeEvent.isComposing || props.pressed?.(event)) return;
    if (event.key === "Backspace" || event.key === "Delete") widen(event.currentTarget, now.current, event.key);
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    props.send();
  };
  const moved = () => {
    const field = area.current;
    if (!field) return;
    const { selectionStart: at, selectionEnd: end } = field;
    const inside = spans(now.current).find((span) => at === end && span.start < at && at < span.stop);
    if (inside && last.current.pointer) setOpen(inside.number);
    const to = outside(now.current, at, last.current.cursor);
    if (inside) field.setSelectionRange(to, to);
    last.current.cursor = inside ? to : at;
  };
  const remove = (number: number) => {
    put({ ...now.current, text: now.current.text.replaceAll(label(number), "") });
    area.current?.focus();
  };
  const chips = spans(draft);
  return (
    <>
      {chips.length > 0 && <Chips draft={draft} open={setOpen} remove={remove} />}
      <div className="draft">
        {chips.length > 0 && <Copy draft={draft} area={area} copy={copy} />}
        <textarea
          id={props.id}
          ref={area}
          rows={1}
          dir="auto"
          aria-label={props.name}
          placeholder={props.placeholder}
          value={draft.text}
          onChange={changed}
          onPaste={pasted}
          onKeyDown={pressed}
          onPointerDown={() => (last.current.pointer = true)}
          onSelect={moved}
          onScroll={() => align(area.current, copy.current)}
        />
      </div>
      {open !== null && open in draft.pastes && (
        <LongTextDialog
          number={open}
          text={draft.pastes[open]!}
          close={() => setOpen(null)}
          save={(text) => put({ ...now.current, pastes: { ...now.current.pastes, [open]: text } })}
          remove={() => remove(open)}
        />
      )}
    </>
  );
}

interface Painted {
  draft: Draft;
  area: { current: HTMLTextAreaElement | null };
  copy: { current: HTMLDivElement | null };
}

/** The same text at the same place, of which only the chips can be seen. */
function Copy({ draft, area, copy }: Painted) {
  useLayoutEffect(() => align(area.current, copy.current));
  const pieces: (string | number)[] = [];
  let at = 0;
  for (const span of spans(draft)) {
    pieces.push(draft.text.slice(at, span.start), span.number);
    at = span.stop;
  }
  return (
    <div ref={copy} className="draft-copy" dir="auto" aria-hidden="true">
      {pieces.map((piece, index) => (typeof piece === "number" ? <mark key={index}>{label(piece)}</mark> : piece))}
      {draft.text.slice(at)}
      {"\u200b"}
    </div>
  );
}

/** A placeholder at the cursor is deleted as a whole, in one step that undo takes back. */
function widen(area: HTMLTextAreaElement, draft: Draft, key: string): void {
  const { selectionStart: at, selectionEnd: end } = area;
  const span = spans(draft).find(({ start, stop }) => at === end && (key === "Delete" ? start : stop) === at);
  if (span) area.setSelectionRange(span.start, span.stop);
}

function align(area: HTMLTextAreaElement | null, copy: HTMLDivElement | null): void {
  if (area && copy) copy.scrollTop = area.scrollTop;
}

/** Grow with the text; the style sheet says how far. */
function fit(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
