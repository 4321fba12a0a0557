/** One setting: saved when it is left, inherited until it is set, and refused with the reason beside it. */

import { useEffect, useState } from "react";
import type { Settings } from "../../api/types";
import type { Field } from "./fields";
import { FieldInput, mayBeNumber } from "./FieldInput";

interface Props {
  field: Field;
  settings: Settings;
  /** Gives why it was refused; null: it was saved. */
  save: (value: unknown) => Promise<string | null>;
  /** Tells what a value would lead to; only where there is a conversation to try it on. */
  tryOut?: ((value: unknown, signal: AbortSignal) => Promise<string>) | undefined;
}

const PAUSE = 300;
/** Milliseconds without a key before a value is tried out. */

const SAID: Record<string, string> = { true: "on", false: "off" };
export const said = (value: unknown): string =>
  value === undefined || value === null || value === "" ? "" : (SAID[String(value)] ?? String(value));

export function SettingField({ field, settings, save, tryOut }: Props) {
  const [draft, change] = useState<string | null>(null);
  const [refused, refuse] = useState("");
  const own = settings.own[field.name];
  const inherited = said(settings.inherited[field.name]);
  const stored = own === undefined ? "" : String(own);
  const [effect, show] = useState("");
  const tried = draft === null || draft === stored ? null : draft;
  useEffect(() => {
    if (tried === null || !tryOut) {
      show("");
      return;
    }
    const stop = new AbortController();
    const value = valueOf(field, tried) ?? settings.inherited[field.name] ?? null;
    const timer = setTimeout(() => {
      void tryOut(value, stop.signal).then((told) => !stop.signal.aborted && show(told));
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // What it is tried on is the same as long as the panel is there.
  }, [tried]);
  const put = async (text: string) => {
    if (text === stored) {
      change(null);
      refuse("");
      return;
    }
    const reason = await save(valueOf(field, text));
    refuse(reason ?? "");
    change(reason ? text : null);
  };
  return (
    <div className="setting" data-setting={field.name}>
      <label htmlFor={`set-${field.name}`}>{field.label}</label>
      <FieldInput
        id={`set-${field.name}`}
        field={field}
        value={draft ?? stored}
        inherited={inherited}
        invalid={refused !== ""}
        change={change}
        commit={(text) => void put(text)}
        cancel={() => change(null)}
      />
      {refused && (
        <p className="setting-refused" role="alert" id={`${field.name}-refused`}>
          {refused}
        </p>
      )}
      {effect && (
        <p className="setting-effect" role="status">
          This conversation {effect}.
        </p>
      )}
      <p className="setting-note" id={`${field.name}-note`}>
        {field.meaning.replaceAll("`", "")}{" "}
        {own === undefined ? (
          // A list says itself what is inherited.
          !CHOSEN.includes(field.kind) && (
            <span className="setting-source">{inherited ? <>Inherited: {short(inherited)}</> : "Not set."}</span>
          )
        ) : (
          <span className="setting-source own">
            Set here{inherited && <>, instead of {short(inherited)}</>}{" "}
            <button type="button" className="link" aria-label={`Reset ${field.label}`} onClick={() => void put("")}>
              Reset
            </button>
          </span>
        )}
      </p>
    </div>
  );
}

const CHOSEN: Field["kind"][] = ["switch", "choice", "prompt"];

const LONG = 40;
/** Characters of an inherited text that are shown. */

const short = (text: string) => <bdi>{text.length > LONG ? `${text.slice(0, LONG)}…` : text}</bdi>;

/** What is sent: an empty field is no value, and a number that is none is left to the server to refuse. */
function valueOf(field: Field, text: string): unknown {
  if (text.trim() === "") return null;
  if (field.kind === "switch") return text === "true";
  if (!mayBeNumber(field)) return text;
  const number = Number(text.replace(",", "."));
  return Number.isNaN(number) ? text : number;
}
