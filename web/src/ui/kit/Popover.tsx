/** A button and what it opens next to itself; Esc, a click elsewhere or leaving it with Tab closes it. */

import { useEffect, useId, useRef, useState, type ReactNode } from "react";

interface Props {
  /** The name of what opens, and of the button unless its own text names it. */
  label: string;
  named?: boolean;
  /** What is on the button. */
  button: ReactNode;
  className?: string;
  buttonClass?: string;
  side?: "above" | "below";
  align?: "start" | "end";
  kind?: "dialog" | "menu";
  disabled?: boolean;
  children: (close: () => void) => ReactNode;
}

export function Popover(props: Props) {
  const { label, button, className = "", buttonClass = "", side = "below", align = "start", kind = "dialog" } = props;
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  return (
    <div
      ref={root}
      className={`popover-root ${className}`}
      onBlur={(event) => {
        if (event.relatedTarget && !root.current?.contains(event.relatedTarget)) setOpen(false);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={opener}
        type="button"
        className={buttonClass}
        aria-label={props.named ? undefined : label}
        aria-haspopup={kind}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        disabled={props.disabled}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        <div id={id} className={`popover ${side} ${align}`} {...(kind === "dialog" && { role: "dialog", "aria-label": label })}>
          {props.children(close)}
        </div>
      )}
    </div>
  );
}
