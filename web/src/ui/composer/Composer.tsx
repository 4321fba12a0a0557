/** The input: Enter sends, Shift+Enter starts a line, Esc stops; what is typed survives a reload. */

import { useEffect, useMemo, useRef, type FormEvent } from "react";
import { compressCommand } from "../../lib/command";
import { readDraft } from "../../lib/drafts";
import { readExtras } from "../../lib/entries";
import { NO_EXTRAS } from "../../lib/entry";
import { expanded } from "../../lib/longtext";
import type { Upload } from "../../lib/upload";
import { editLast } from "../../state/effects/branches";
import { clearEntry, readEntry, setEntry } from "../../state/effects/entry";
import { attach } from "../../state/effects/files";
import { compressByCommand } from "../../state/effects/compression";
import { measureEntry } from "../../state/effects/measure";
import { say, stop } from "../../state/effects/turns";
import { useStore } from "../../state/store";
import type { Turn } from "../../state/types";
import { Icon } from "../kit/Icon";
import { AttachButton } from "./AttachButton";
import { DraftField } from "./DraftField";
import { Files } from "./Files";
import { ModelPicker } from "./ModelPicker";
import { useRecall } from "./recall";

const NONE: readonly Upload[] = [];
// On a phone the focus would open the keyboard over what is to be read.
const TAKES_FOCUS = matchMedia("(hover: hover)").matches;

export function Composer({ draft, turn }: { draft: string; turn: Turn | null }) {
  const kept = useMemo(() => ({ text: readDraft(draft), extras: readExtras(draft) ?? NO_EXTRAS }), [draft]);
  const text = useStore((state) => state.drafts[draft]) ?? kept.text;
  const { pastes, files } = useStore((state) => state.extras[draft]) ?? kept.extras;
  const uploads = useStore((state) => state.uploads[draft]) ?? NONE;
  const recall = useRecall(draft);
  const counted = useStore((state) => state.chat?.id === draft && state.chat.usage !== null && !state.chat.turn);
  useEffect(() => (counted ? measureEntry(draft, { text, pastes, files }) : undefined), [counted, draft, text, pastes, files]);
  const empty = (!expanded({ text, pastes }).trim() && files.length === 0) || uploads.length > 0;
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    const focus = files.length === 0 ? compressCommand(expanded({ text, pastes })) : null;
    if (focus !== null) {
      if (compressByCommand(focus)) clearEntry(draft);
      return;
    }
    if (!empty && !turn) void say(readEntry(draft));
  };
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => tellHeight(form.current), []);
  return (
    <form ref={form} className="composer" onSubmit={send}>
      {files.length + uploads.length > 0 && <Files draft={draft} files={files} uploads={uploads} />}
      <DraftField
        key={draft}
        id="composer"
        name="Message"
        placeholder="Write a message"
        draft={{ text, pastes }}
        change={(next) => setEntry(draft, next)}
        send={send}
        files={(pasted) => void attach(draft, pasted)}
        focus={TAKES_FOCUS}
        pressed={(event) => {
          if (recall(event)) return true;
          if (event.key !== "ArrowUp" || text) return false;
          event.preventDefault();
          editLast();
          return true;
        }}
      />
      <div className="composer-tools">
        <AttachButton draft={draft} />
        <ModelPicker />
        {turn ? (
          <button type="button" className="button primary round" aria-label="Stop" disabled={turn.stopping} onClick={() => void stop()}>
            <Icon name="stop" />
          </button>
        ) : (
          <button type="submit" className="button primary round" aria-label="Send" disabled={empty}>
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}

/** News appear above the input, however high it has grown. */
function tellHeight(form: HTMLElement | null): (() => void) | undefined {
  if (!form) return undefined;
  const watch = new ResizeObserver(() =>
    document.documentElement.style.setProperty("--composer", `${form.offsetHeight}px`),
  );
  watch.observe(form);
  return () => watch.disconnect();
}
