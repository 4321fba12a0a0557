/** A long paste, opened: read it, change it, or take it out. */

import { useState } from "react";
import { label } from "../../lib/longtext";
import { Dialog } from "../kit/Dialog";

interface Props {
  number: number;
  text: string;
  close: () => void;
  save: (text: string) => void;
  remove: () => void;
}

export function LongTextDialog({ number, text, close, save, remove }: Props) {
  const [changed, change] = useState(text);
  const then = (act: () => void) => () => {
    act();
    close();
  };
  return (
    <Dialog
      title={label(number)}
      wide
      onClose={close}
      actions={
        <>
          <button type="button" className="button danger" onClick={then(remove)}>
            Remove
          </button>
          <button type="button" className="button primary" onClick={then(() => save(changed))}>
            Keep
          </button>
        </>
      }
    >
      <label className="field">
        <span>This text is sent in full, at the place of its mark in the input.</span>
        <textarea rows={16} dir="auto" value={changed} onChange={(event) => change(event.target.value)} />
      </label>
    </Dialog>
  );
}
