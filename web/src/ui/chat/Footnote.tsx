/** A footnote, and the sign in the text that leads to it. */

import type { ReactNode } from "react";

export function FootnoteSign({ label }: { label: string }) {
  return (
    <sup>
      <button
        type="button"
        className="link"
        aria-label={`Footnote ${label}`}
        onClick={(event) => {
          const notes = event.currentTarget.closest(".prose")?.querySelectorAll<HTMLElement>("[data-footnote]") ?? [];
          const note = [...notes].find((one) => one.dataset["footnote"] === label);
          note?.scrollIntoView({ block: "nearest" });
          note?.focus();
        }}
      >
        {label}
      </button>
    </sup>
  );
}

export function Footnote({ label, children }: { label: string; children: ReactNode }) {
  return (
    <p className="footnote" data-footnote={label} tabIndex={-1}>
      <sup>{label}</sup> {children}
    </p>
  );
}
