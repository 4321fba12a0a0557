/** The right control for a setting. A choice is saved at once, a text when it is left or Enter is pressed. */

import { useState, type KeyboardEvent } from "react";
import type { Field } from "./fields";

interface Props {
  id: string;
  field: Field;
  value: string;
  inherited: string;
  invalid: boolean;
  change: (text: string) => void;
  commit: (text: string) => void;
  /** Forget what was typed. */
  cancel: () => void;
}

export const MODELS = "settings-models";
/** The list of models' names that fields offer. */

const OWN = "own";

const isNumber = (field: Field): boolean => ["mark", "number", "tokens", "amount"].includes(field.kind);
export const mayBeNumber = (field: Field): boolean => isNumber(field) || field.kind === "auto_tokens";

export function FieldInput(props: Props) {
  const { field } = props;
  if (field.kind === "prompt") return <PromptInput {...props} />;
  if (field.kind === "switch") return <Choice {...props} options={[["true", "On"], ["false", "Off"]]} />;
  if (field.kind === "choice")
    return <Choice {...props} options={field.choices.map((name) => [name, name] as const)} />;
  return <Words {...props} />;
}

const described = ({ id, field, invalid }: Props) => ({
  id,
  "aria-invalid": invalid || undefined,
  "aria-describedby": `${invalid ? `${field.name}-refused ` : ""}${field.name}-note`,
});

function Choice({ options, ...props }: Props & { options: (readonly [string, string])[] }) {
  const { inherited, value, commit } = props;
  return (
    <select {...described(props)} value={value} onChange={(event) => commit(event.target.value)}>
      <option value="">{inherited ? `Inherited: ${inherited}` : "Not set"}</option>
      {options.map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Words(props: Props) {
  const { field, value, inherited, change, commit } = props;
  const common = {
    ...described(props),
    value,
    placeholder: inherited,
    onChange: (event: { target: { value: string } }) => change(event.target.value),
    onBlur: () => commit(value),
  };
  if (field.kind === "text" || field.kind === "prompt") return <textarea {...common} rows={4} dir="auto" />;
  const offered = field.kind === "auto_tokens" ? `${props.id}-offered` : undefined;
  const input = (
    <input
      {...common}
      type="text"
      inputMode={isNumber(field) ? "decimal" : "text"}
      list={field.kind === "model" ? MODELS : offered}
      autoComplete="off"
      spellCheck={false}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === "Enter") commit(value);
      }}
    />
  );
  if (!offered) return input;
  return (
    <>
      {input}
      <datalist id={offered}>
        {field.choices.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** A template of Octavo's, or a text of one's own. */
function PromptInput(props: Props) {
  const { field, value, commit, change, cancel } = props;
  const prompts: readonly string[] = field.choices;
  const [writing, write] = useState(false);
  const own = writing || (value !== "" && !prompts.includes(value));
  const options = [...prompts.map((name) => [name, name] as const), [OWN, "A text of my own"] as const];
  const choose = (chosen: string) => {
    write(chosen === OWN);
    if (chosen === OWN) change("");
    else commit(chosen);
  };
  const leave = (text: string) => {
    write(false);
    if (text.trim()) commit(text);
    else cancel();
  };
  return (
    <>
      <Choice {...props} value={own ? OWN : value} options={options} commit={choose} />
      {own && (
        <label className="setting-text">
          <span className="unseen">Text of the prompt</span>
          <Words {...props} id={`${props.id}-text`} commit={leave} />
        </label>
      )}
    </>
  );
}
