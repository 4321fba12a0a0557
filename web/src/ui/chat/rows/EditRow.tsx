/** A message of one's own, being written anew: sending it makes a branch, the old one stays. */

import type { Editing } from "../../../lib/entry";
import { expanded } from "../../../lib/longtext";
import { cancelEdit, changeEdit, sendEdit } from "../../../state/effects/branches";
import { DraftField } from "../../composer/DraftField";

export function EditRow({ editing, conversation }: { editing: Editing; conversation: string }) {
  const empty = !expanded(editing.draft).trim() && editing.others.length === 0;
  const send = () => {
    if (!empty) void sendEdit(conversation, editing);
  };
  const cancel = () => {
    cancelEdit(conversation, editing);
    document.getElementById("composer")?.focus();
  };
  return (
    <article className="message user editing" aria-label="You">
      <div className="message-body">
        <DraftField
          name="Edit the message"
          draft={editing.draft}
          change={(draft) => changeEdit(conversation, draft)}
          send={send}
          focus
          pressed={(event) => {
            if (event.key !== "Escape") return false;
            // Not for the page, where it stops an answer.
            event.preventDefault();
            cancel();
            return true;
          }}
        />
        <div className="edit-actions">
          {editing.others.length > 0 && <p className="lead">What is attached stays.</p>}
          <button type="button" className="button small quiet" onClick={cancel}>
            Cancel
          </button>
          <button type="button" className="button small primary" disabled={empty} onClick={send}>
            Send
          </button>
        </div>
      </div>
    </article>
  );
}
