/** Brings in conversations of other programs, or of another Octavo. */

import { useRef } from "react";
import { importFile } from "../../state/effects/transfer";
import { Icon } from "../kit/Icon";

export function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  const name = "Import conversations (ChatGPT, Claude, Octavo)";
  return (
    <>
      <button type="button" className="icon-button" aria-label={name} title={name} onClick={() => input.current?.click()}>
        <Icon name="open" />
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={name}
        accept=".json,.jsonl,.zip"
        onChange={({ target }) => {
          const file = target.files?.[0];
          target.value = "";
          if (file) void importFile(file);
        }}
      />
    </>
  );
}
