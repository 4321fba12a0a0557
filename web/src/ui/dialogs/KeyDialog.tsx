/** A server that others can reach asks everybody for a key. */

import { useEffect, useRef, useState, type FormEvent } from "react";
import { setKey } from "../../api/http";
import { Dialog } from "../kit/Dialog";

export function KeyDialog({ reason }: { reason: string }) {
  const [key, change] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setKey(key.trim());
    location.reload();
  };
  return (
    <Dialog title="A key is needed">
      <form className="form" onSubmit={submit}>
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
            onChange={(event) => change(event.target.value)}
          />
        </label>
        <div className="dialog-actions">
          <button type="submit" className="button primary">
            Use this key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
