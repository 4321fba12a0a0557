/** Ways to begin: the sample conversation, which needs no model, and three things to ask. */

import { useState } from "react";
import { NEW, setDraft } from "../../state/effects/drafts";
import { openSample } from "../../state/effects/sample";
import { Icon } from "../kit/Icon";

const PROMPTS = [
  "Plan a four-day walk for two with public transport, step by step",
  "Explain how HTTPS keeps a password safe, as if I were twelve",
  "Review a function that I will paste, and say what can go wrong",
];

export function Examples({ prompts }: { prompts: boolean }) {
  const [busy, setBusy] = useState(false);
  const open = async () => {
    setBusy(true);
    await openSample();
    setBusy(false);
  };
  return (
    <ul className="examples">
      <li>
        <button type="button" className="example first" disabled={busy} onClick={() => void open()}>
          <Icon name="book" />
          <span>
            <b>Open a sample conversation</b>
            <span>Nine days of a project, compressed once: open the summary, see what was left out, undo it.</span>
          </span>
        </button>
      </li>
      {prompts &&
        PROMPTS.map((prompt) => (
          <li key={prompt}>
            <button type="button" className="example" onClick={() => begin(prompt)}>
              {prompt}
            </button>
          </li>
        ))}
    </ul>
  );
}

/** Not sent at once: it is an example, and people change it. */
function begin(prompt: string): void {
  setDraft(NEW, prompt);
  document.getElementById("composer")?.focus();
}
