/** The labels of a conversation: tick those it has, write a new one; rename one, or take it off everywhere. */

import { useState } from "react";
import type { Conversation } from "../../api/types";
import { changeLabel, labelConversation, titleOf } from "../../state/effects/conversations";
import { useStore } from "../../state/store";
import { Dialog } from "../kit/Dialog";
import { TitleField } from "./TitleField";

const LONGEST = 40;
/** Characters the server takes. */

export function LabelsDialog({ conversation }: { conversation: Conversation }) {
  const labels = useStore((state) => state.conversations.labels);
  const [held, setHeld] = useState(conversation.labels);
  const [name, setName] = useState("");
  const put = (labels: string[]) => {
    setHeld(labels);
    void labelConversation(conversation.id, labels);
  };
  return (
    <Dialog title={`Labels of ${titleOf(conversation)}`}>
      <ul className="label-list">
        {[...new Set([...labels, ...held])].map((one) => (
          <LabelRow
            key={one}
            label={one}
            held={held.includes(one)}
            renamed={(name) => {
              setHeld(held.flatMap((other) => (other !== one ? other : (name ?? []))));
              void changeLabel(one, name);
            }}
            change={(wanted) => put(wanted ? [...held, one] : held.filter((other) => other !== one))}
          />
        ))}
      </ul>
      <form
        className="label-new"
        onSubmit={(event) => {
          event.preventDefault();
          const label = name.trim();
          if (label) put([...new Set([...held, label])]);
          setName("");
        }}
      >
        <input
          aria-label="New label"
          placeholder="New label"
          maxLength={LONGEST}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <button type="submit" className="button small" disabled={!name.trim()}>
          Add
        </button>
      </form>
    </Dialog>
  );
}

interface Row {
  label: string;
  held: boolean;
  change: (wanted: boolean) => void;
  renamed: (name: string | null) => void;
}

function LabelRow({ label, held, change, renamed }: Row) {
  const [renaming, setRenaming] = useState(false);
  if (renaming)
    return (
      <li>
        <TitleField
          title={label}
          name="Name of the label"
          longest={LONGEST}
          done={(name) => {
            setRenaming(false);
            if (name && name !== label) renamed(name);
          }}
        />
      </li>
    );
  return (
    <li>
      <label>
        <input type="checkbox" checked={held} onChange={(event) => change(event.target.checked)} />
        <bdi>{label}</bdi>
      </label>
      <button type="button" className="button quiet small" aria-label={`Rename ${label}`} onClick={() => setRenaming(true)}>
        Rename
      </button>
      <button
        type="button"
        className="button quiet small"
        aria-label={`Remove everywhere: ${label}`}
        onClick={() => renamed(null)}
      >
        Remove everywhere
      </button>
    </li>
  );
}
