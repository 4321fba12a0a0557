/** All models, the one in use first, found by typing; arrow keys go through them, Enter takes one, any other name may be typed whole. */

import { useId, useState, type KeyboardEvent } from "react";
import type { Models } from "../../api/types";
import { short } from "../../lib/format";

interface Option {
  name: string;
  window: number | null;
}

const SMALL = "a very small model inside Octavo: to try things out, not for hard questions";

interface Props {
  models: Models;
  chosen: string;
  choose: (name: string) => void;
}

/** The models of each provider that is ready; those a provider lists itself, else those that are known of it. */
export function optionsOf(models: Models): { title: string; note: string; options: Option[] }[] {
  return models.providers
    .filter((provider) => provider.ready)
    .map((provider) => {
      const cards = models.models.filter((card) => card.provider === provider.provider);
      const named = provider.models.map((name) => ({
        name,
        window: models.models.find((card) => card.name === name)?.window ?? null,
      }));
      const known = cards.map((card) => ({ name: card.name, window: card.window }));
      const note = provider.provider === "local" ? SMALL : "";
      return { title: provider.title, note, options: named.length ? named : known };
    })
    .filter((group) => group.options.length > 0);
}

type Group = ReturnType<typeof optionsOf>[number];

/** The group of the model in use comes first, and in it that model. */
function usedFirst(groups: Group[], chosen: string): Group[] {
  const own = groups.find((group) => group.options.some((one) => one.name === chosen));
  if (!own) return groups;
  const options = [...own.options.filter((one) => one.name === chosen), ...own.options.filter((one) => one.name !== chosen)];
  return [{ ...own, options }, ...groups.filter((group) => group !== own)];
}

export function ModelList({ models, chosen, choose }: Props) {
  const [text, type] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const groups = usedFirst(optionsOf(models), chosen).map((group) => ({
    ...group,
    options: group.options.filter((one) => one.name.toLowerCase().includes(text.trim().toLowerCase())),
  }));
  const found = groups.flatMap((group) => group.options);
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const next = (at + step + found.length) % Math.max(1, found.length);
      setAt(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
    }
    const name = found[at]?.name ?? text.trim();
    if (event.key === "Enter" && name) {
      event.preventDefault();
      choose(name);
    }
  };
  const missing = models.providers.filter((provider) => !provider.ready);
  return (
    <div className="model-list">
      <input
        type="text"
        role="combobox"
        aria-label="Find a model"
        aria-expanded={found.length > 0}
        aria-controls={found.length ? `${id}-list` : undefined}
        aria-activedescendant={found.length ? `${id}-${at}` : undefined}
        placeholder="Find a model, or type its name"
        autoFocus
        value={text}
        onChange={(event) => {
          type(event.target.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      {found.length > 0 && <div id={`${id}-list`} role="listbox" aria-label="Models" className="options" tabIndex={-1}>
        {groups
          .filter((group) => group.options.length > 0)
          .map((group) => (
            <div key={group.title} role="group" aria-label={group.note ? `${group.title}, ${group.note}` : group.title}>
              <p className="options-title" aria-hidden="true">
                {group.title}
                {group.note && <span>, {group.note}</span>}
              </p>
              {group.options.map((one) => {
                const index = found.indexOf(one);
                return (
                  <div
                    key={one.name}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={one.name === chosen}
                    className={index === at ? "option at" : "option"}
                    onPointerMove={() => setAt(index)}
                    onClick={() => choose(one.name)}
                  >
                    <bdi>{one.name}</bdi>
                    {one.window && <span>{short(one.window)}</span>}
                  </div>
                );
              })}
            </div>
          ))}
      </div>}
      {found.length === 0 && text.trim() && <p className="options-none">Enter takes “{text.trim()}” as it is.</p>}
      {missing.length > 0 && (
        <details className="missing">
          <summary>Not available now</summary>
          <ul tabIndex={0} aria-label="Not available now">
            {missing.map((provider) => (
              <li key={provider.provider}>
                <b>{provider.title}</b> {provider.detail}; {provider.remedy}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
