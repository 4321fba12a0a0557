/** Keys for programs and other people: a secret is shown once, a revoked key is revoked for good. */

import { useEffect, useState } from "react";
import type { Key, KeyMade } from "../../api/types";
import { moment } from "../../lib/format";
import { listKeys, revokeKey } from "../../state/effects/settings";
import { CopyButton } from "../kit/CopyButton";
import { KeyForm } from "./KeyForm";

export function KeysPanel() {
  const [keys, show] = useState<Key[] | null>(null);
  const [made, setMade] = useState<KeyMade | null>(null);
  const [refused, refuse] = useState("");
  /** The key that is revoked by the next press: there is no way back. */
  const [sure, setSure] = useState<string | null>(null);
  const load = async () => {
    const answer = await listKeys();
    if ("value" in answer) show(answer.value);
    else refuse(answer.refused.text);
  };
  useEffect(() => void load(), []);
  const revoke = async (key: Key) => {
    const answer = await revokeKey(key.id);
    refuse("refused" in answer ? answer.refused.text : "");
    await load();
  };
  return (
    <>
      <p className="panel-about">
        A key opens the API and the gateway to a program. Keys of one owner share their conversations.
      </p>
      {refused && (
        <p className="setting-refused" role="alert">
          {refused}
        </p>
      )}
      {made && <Secret made={made} />}
      {keys && (
        <KeyForm
          done={(key) => {
            setMade(key);
            void load();
          }}
        />
      )}
      <ul className="entries" aria-label="Keys">
        {keys?.map((key) => (
          <li key={key.id} className={key.revoked ? "entry revoked" : "entry"}>
            <div>
              <b>
                <bdi>{key.name}</bdi>
              </b>{" "}
              <span className="mono">{key.prefix}…</span>
              <p>
                {key.scopes.join(", ")}
                {key.owner && (
                  <>
                    {" "}
                    · of <bdi>{key.owner}</bdi>
                  </>
                )}{" "}
                · made {moment(key.created)} · {key.used ? `used ${moment(key.used)}` : "never used"}
              </p>
            </div>
            {key.revoked ? (
              <span className="tag">revoked</span>
            ) : (
              <button
                type="button"
                className="button small danger"
                onBlur={() => setSure(null)}
                onClick={() => (sure === key.id ? void revoke(key) : setSure(key.id))}
              >
                {sure === key.id ? "Revoke for good" : "Revoke"}
                <span className="unseen"> {key.name}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {keys?.length === 0 && <p className="empty">There is no key yet.</p>}
    </>
  );
}

function Secret({ made }: { made: KeyMade }) {
  return (
    <div className="secret" role="status">
      <p>
        <b>
          The key <bdi>{made.name}</bdi>
        </b>{" "}
        is shown here and never again: copy it now.
      </p>
      <p className="secret-line">
        <code>{made.secret}</code>
        <CopyButton text={() => made.secret} label="Copy the key" />
      </p>
    </div>
  );
}
