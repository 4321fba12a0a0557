/** Settings of one model, whichever is named. */

import { useState } from "react";
import { useStore } from "../../state/store";
import { MODELS } from "./FieldInput";
import { LevelPanel } from "./LevelPanel";

export function ModelPanel() {
  const current = useStore((state) => String(state.chat?.settings?.effective.model ?? state.models?.default ?? ""));
  const [typed, type] = useState(current);
  const [model, choose] = useState(current);
  const take = () => choose(typed.trim());
  return (
    <>
      <div className="setting">
        <label htmlFor="settings-of">Settings of the model</label>
        <input
          id="settings-of"
          list={MODELS}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => type(event.target.value)}
          onBlur={take}
          onKeyDown={(event) => event.key === "Enter" && take()}
        />
      </div>
      {model && (
        <LevelPanel
          key={model}
          level={{ name: "model", model }}
          about="These hold wherever this model answers, unless a conversation says otherwise."
        />
      )}
    </>
  );
}
