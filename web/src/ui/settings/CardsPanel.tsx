/** What is known of models; a card of one's own comes before the one that Octavo has. */

import { useState } from "react";
import type { Card } from "../../api/types";
import { count } from "../../lib/format";
import { removeCard } from "../../state/effects/settings";
import { useStore } from "../../state/store";
import { Icon } from "../kit/Icon";
import { CardForm } from "./CardForm";

export function CardsPanel() {
  const cards = useStore((state) => state.models?.models);
  const [text, type] = useState("");
  /** The card that is edited; `new` while one is added. */
  const [editing, edit] = useState<Card | "new" | null>(null);
  if (editing) return <CardForm card={editing === "new" ? null : editing} done={() => edit(null)} />;
  const words = text.trim().toLowerCase();
  const found = [...(cards ?? [])]
    .filter((card) => card.name.toLowerCase().includes(words))
    .sort((a, b) => Number(b.own) - Number(a.own));
  return (
    <>
      <p className="panel-about">
        Windows, tokenizers and prices of the models. Change one, or add a model that is not here.
      </p>
      <div className="panel-tools">
        <label className="search">
          <Icon name="search" />
          <span className="unseen">Find a card</span>
          <input type="search" placeholder="Find a card" value={text} onChange={(event) => type(event.target.value)} />
        </label>
        <button type="button" className="button small" onClick={() => edit("new")}>
          <Icon name="plus" />
          Add a card
        </button>
      </div>
      <ul className="entries" aria-label="Model cards">
        {found.map((card) => (
          <CardEntry key={card.name} card={card} edit={() => edit(card)} />
        ))}
      </ul>
      {found.length === 0 && <p className="empty">No card has this name; a model without one can be used all the same.</p>}
    </>
  );
}

function CardEntry({ card, edit }: { card: Card; edit: () => void }) {
  return (
    <li className="entry">
      <div>
        <b>
          <bdi>{card.name}</bdi>
        </b>{" "}
        {card.own && <span className="tag">yours</span>}
        <p>
          {count(card.window)} tokens, answers up to {count(card.max_output)} · {card.tokenizer}
          {card.price && (
            <>
              {" "}
              · ${card.price[0]} in, ${card.price[1]} out per million
            </>
          )}
          {card.soft !== null && (card.soft < 1 ? <> · compresses at {Math.round(card.soft * 100)} %</> : <> · never compresses early</>)}
          {card.retained !== null && <> · keeps {count(card.retained)} word for word</>}
        </p>
      </div>
      <button type="button" className="button small quiet" aria-label={`Edit ${card.name}`} onClick={edit}>
        Edit
      </button>
      {card.own && (
        <button
          type="button"
          className="button small quiet danger"
          aria-label={`Remove ${card.name}`}
          onClick={() => void removeCard(card.name)}
        >
          Remove
        </button>
      )}
    </li>
  );
}
