/** Copies a text, and says so for a moment. */

import { Icon } from "./Icon";
import { useCopied, type Words } from "./useCopied";

export function CopyButton({ text, label }: { text: Words; label: string }) {
  const [copied, copy] = useCopied(text);
  return (
    <button type="button" className="icon-button" aria-label={copied ? "Copied" : label} onClick={copy}>
      <Icon name={copied ? "check" : "copy"} />
    </button>
  );
}
