/** A modal dialog: the browser's own, so focus stays inside, Esc closes it, and focus goes back where it was. */

import { useId, useLayoutEffect, useRef, type ReactNode } from "react";
import { dispatch } from "../../state/store";
import { Icon } from "./Icon";

interface Props {
  title: string;
  children: ReactNode;
  /** Buttons at the bottom. */
  actions?: ReactNode;
  wide?: boolean;
  /** Called instead of simply closing. */
  onClose?: () => void;
}

export const closeDialog = () => dispatch({ type: "dialog/closed" });

export function Dialog({ title, children, actions, wide = false, onClose = closeDialog }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed while it is still in the document: only then does the browser give the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="dialog-body">
        <header className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
        {actions && <footer className="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
}
