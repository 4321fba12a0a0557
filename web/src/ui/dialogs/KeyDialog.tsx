/** A server that others can reach asks everybody for a key. */

import { useEffect, useRef, useState, type FormEvent } from "react";
import { tryKey } from "../../state/effects/key";
import { Dialog } from "../kit/Dialog";

export function KeyDialog({ reason }: { reason: string }) {
  const [key, change] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const [wrong, setWrong] = useState("");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const refused = await tryKey(key.trim());
    if (refused === null) location.reload();
    else setWrong(refused);
  };
  return (
    <Dialog title="A key is needed">
      <form className="form" onSubmit={(event) => void submit(event)}>
        <p>
          {reason}. Whoever runs this server makes one with <code>octavo keys create NAME</code>. This tab remembers it
          until it is closed.
        </p>
        <label className="field">
          <span>Key</span>
          <input
            ref={field}
            type="password"
            autoComplete="off"
            placeholder="octavo_…"
            value={key}
            required
            aria-invalid={wrong !== ""}
            aria-describedby={wrong ? "key-wrong" : undefined}
            onChange={(event) => {
              setWrong("");
              change(event.target.value);
            }}
          />
        </label>
        {wrong && (
          <p id="key-wrong" role="alert" className="compression-warning">
            {wrong}
          </p>
        )}
        <div className="dialog-actions">
          <button type="submit" className="button primary">
            Use this key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
