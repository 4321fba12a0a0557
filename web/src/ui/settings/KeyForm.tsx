/** Makes a key. */

import { useState, type FormEvent } from "react";
import type { KeyIn, KeyMade } from "../../api/types";
import type { Reason } from "../../lib/reason";
import { createKey } from "../../state/effects/settings";

const SCOPES = ["read", "write", "admin"] as const;

export function KeyForm({ done }: { done: (made: KeyMade) => void }) {
  const [name, rename] = useState("");
  const [owner, own] = useState("");
  const [scopes, permit] = useState<readonly string[]>(["read", "write"]);
  const [refused, refuse] = useState<Reason | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const answer = await createKey({ name, owner, scopes: scopes as NonNullable<KeyIn["scopes"]> });
    refuse("refused" in answer ? answer.refused : null);
    if (!("value" in answer)) return;
    rename("");
    done(answer.value);
  };
  return (
    <form className="inline-form" aria-label="New key" onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>Name</span>
        <input value={name} required maxLength={200} placeholder="what it is for" onChange={(event) => rename(event.target.value)} />
      </label>
      <label className="field">
        <span>Owner</span>
        <input value={owner} maxLength={200} placeholder="you" onChange={(event) => own(event.target.value)} />
      </label>
      <fieldset className="choices in-line">
        <legend>May</legend>
        {SCOPES.map((scope) => (
          <label key={scope} className="choice">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={(event) =>
                permit(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
              }
            />
            {scope}
          </label>
        ))}
      </fieldset>
      <button type="submit" className="button primary">
        Make a key
      </button>
      {refused && (
        <p className="setting-refused" role="alert">
          {refused.field && `${refused.field}: `}
          {refused.text}
        </p>
      )}
    </form>
  );
}
