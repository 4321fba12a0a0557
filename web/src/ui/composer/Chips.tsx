/** The long pastes of an input: each with its first words, a button that opens it and one that removes it. */

import { label, spans, type Draft } from "../../lib/longtext";
import { Icon } from "../kit/Icon";

const FIRST_WORDS = 40;
/** Characters of a paste that are enough to know it again. */

interface Props {
  draft: Draft;
  open: (number: number) => void;
  remove: (number: number) => void;
}

export function Chips({ draft, open, remove }: Props) {
  const numbers = [...new Set(spans(draft).map((span) => span.number))];
  return (
    <ul className="chips" aria-label="Long pastes">
      {numbers.map((number) => (
        <li key={number} className="chip">
          <button type="button" className="chip-open" onClick={() => open(number)}>
            <b>{label(number)}</b> <bdi>{draft.pastes[number]!.slice(0, FIRST_WORDS)}</bdi>
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove ${label(number)}`}
            onClick={() => remove(number)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
