/** A card of one's own: what is left empty is taken from the card that was there, or from the one it is like. */

import { useState, type FormEvent } from "react";
import type { Card, CardIn } from "../../api/types";
import type { Reason } from "../../lib/reason";
import { defineCard } from "../../state/effects/settings";
import { MODELS } from "./FieldInput";

type Values = Record<string, string>;

const FIELDS: { name: string; label: string; hint?: string; number?: boolean; list?: string }[] = [
  { name: "like", label: "Like", hint: "The model whose card it starts from.", list: MODELS },
  { name: "window", label: "Window", hint: "Tokens that the model accepts.", number: true },
  { name: "max_output", label: "Longest answer", hint: "In tokens.", number: true },
  { name: "tokenizer", label: "Tokenizer" },
  { name: "provider", label: "Provider" },
  { name: "summariser", label: "Who writes", hint: "The model that writes its summaries.", list: MODELS },
  { name: "soft", label: "Compress from", hint: "A share of what may be sent, such as 0.8; with 1 it never compresses between turns.", number: true },
  { name: "retained", label: "Kept word for word", hint: "In tokens.", number: true },
  { name: "price", label: "Price", hint: "Dollars per million tokens: input, output, cached; such as 2.5, 10." },
];

export function CardForm({ card, done }: { card: Card | null; done: () => void }) {
  const [name, rename] = useState(card?.name ?? "");
  const [values, change] = useState<Values>(() => textsOf(card?.given ?? {}));
  const [vision, see] = useState(() => String(card?.given.vision ?? ""));
  const [refused, refuse] = useState<Reason | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const fields = { ...card?.given, ...fieldsOf(values), vision: vision ? vision === "true" : null };
    const answer = await defineCard(name.trim(), fields as CardIn);
    if ("value" in answer) done();
    else refuse(answer.refused);
  };
  return (
    <form className="card-form" aria-label="Model card" onSubmit={(event) => void submit(event)}>
      <h3>{card ? <bdi>{card.name}</bdi> : "A card of your own"}</h3>
      {!card && (
        <div className="setting">
          <label htmlFor="card-name">Name</label>
          <input id="card-name" autoFocus value={name} required maxLength={200} placeholder="ollama/llama3.2" onChange={(event) => rename(event.target.value)} />
        </div>
      )}
      {FIELDS.map((field) => (
        <div key={field.name} className="setting">
          <label htmlFor={`card-${field.name}`}>{field.label}</label>
          <input
            id={`card-${field.name}`}
            autoFocus={card !== null && field.name === "like"}
            value={values[field.name] ?? ""}
            placeholder={textOf(card?.[field.name as keyof Card])}
            list={field.list}
            inputMode={field.number ? "decimal" : "text"}
            autoComplete="off"
            aria-invalid={refused?.field === field.name || undefined}
            aria-describedby={`card-${field.name}-note`}
            onChange={(event) => change({ ...values, [field.name]: event.target.value })}
          />
          <p className="setting-note" id={`card-${field.name}-note`}>
            {refused?.field === field.name && (
              <span className="setting-refused" role="alert">
                {refused.text}{" "}
              </span>
            )}
            {field.hint}
          </p>
        </div>
      ))}
      <div className="setting">
        <label htmlFor="card-vision">Sees pictures</label>
        <select id="card-vision" value={vision} onChange={(event) => see(event.target.value)}>
          <option value="">As it was</option>
          <option value="true">Yes</option>
          <option value="false">No</option>
        </select>
      </div>
      {refused && !FIELDS.some((field) => field.name === refused.field) && (
        <p className="setting-refused" role="alert">
          {refused.text}
        </p>
      )}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={done}>
          Cancel
        </button>
        <button type="submit" className="button primary">
          Save the card
        </button>
      </div>
    </form>
  );
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.filter((one) => one !== null).join(", ");
  return value === null || value === undefined ? "" : String(value);
}

function textsOf(given: Record<string, unknown>): Values {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, textOf(value)]));
}

/** What was typed, as the server takes it; what is no number is sent as it is, and refused with the reason. */
function fieldsOf(values: Values): Record<string, unknown> {
  const numberOf = (text: string) => (text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text));
  const read = (name: string, text: string): unknown => {
    if (!text.trim()) return null;
    if (name === "price") return text.split(",").map(numberOf);
    return FIELDS.find((field) => field.name === name)?.number ? numberOf(text) : text.trim();
  };
  return Object.fromEntries(FIELDS.map(({ name }) => [name, read(name, values[name] ?? "")]));
}
