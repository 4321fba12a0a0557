/** Copies a text, and says so for a moment. */

import { Icon, type IconName } from "./Icon";
import { useCopied, type Words } from "./useCopied";

export function CopyButton({ text, label, icon = "copy" }: { text: Words; label: string; icon?: IconName }) {
  const [copied, copy] = useCopied(text);
  return (
    <button type="button" className="icon-button" aria-label={copied ? "Copied" : label} title={label} onClick={copy}>
      <Icon name={copied ? "check" : icon} />
    </button>
  );
}
