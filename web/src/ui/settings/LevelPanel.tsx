/** The settings of one level. Each is saved by itself, so that one that is refused keeps none of the others back. */

import { useEffect, useRef, useState } from "react";
import type { Settings } from "../../api/types";
import { changeLevel, readLevel, tryOut as effectOf, type Level } from "../../state/effects/settings";
import { groupsOf, type Field, type SettingName } from "./fields";
import { SettingField } from "./SettingField";

const ACTING: SettingName[] = ["prepare", "soft", "hard", "retained", "minimum", "reply", "system", "model"];
/** Settings that decide when a conversation is compressed. */

export function LevelPanel({ level, about }: { level: Level; about: string }) {
  const [settings, show] = useState<Settings | null>(null);
  const [news, tell] = useState("");
  useEffect(() => {
    let shown = true;
    void readLevel(level).then((answer) => {
      if (!shown) return;
      if ("value" in answer) show(answer.value);
      else tell(answer.refused.text);
    });
    return () => {
      shown = false;
    };
    // A panel is made anew for another level.
  }, []);
  const last = useRef<Promise<unknown>>(Promise.resolve());
  // One after the other: an answer tells all settings of the level, and the last one is to be the newest.
  const save = (name: SettingName, label: string, value: unknown): Promise<string | null> => {
    const next = last.current.then(() => put(name, label, value));
    last.current = next;
    return next;
  };
  const put = async (name: SettingName, label: string, value: unknown) => {
    const answer = await changeLevel(level, { [name]: value });
    if ("refused" in answer) return answer.refused.text;
    show(answer.value);
    tell(value === null ? `${label} is inherited again.` : `${label} is saved.`);
    return null;
  };
  const tryOut =
    level.name === "conversation"
      ? (name: SettingName) => (value: unknown, signal: AbortSignal) => effectOf(level.id, { [name]: value }, signal)
      : null;
  const isSetHere = (field: Field) => field.advanced && settings?.own[field.name] !== undefined;
  const row = (field: Field) =>
    settings && (
      <SettingField
        key={field.name}
        field={field}
        settings={settings}
        save={(value) => save(field.name, field.label, value)}
        tryOut={ACTING.includes(field.name) ? tryOut?.(field.name) : undefined}
      />
    );
  return (
    <>
      <p className="panel-about">{about}</p>
      {settings &&
        groupsOf(level.name).map((group) => (
          <section key={group.title} className="setting-group" aria-label={group.title}>
            <h3>{group.title}</h3>
            {group.fields.filter((field) => !field.advanced).map(row)}
            {group.fields.some((field) => field.advanced) && (
              <details className="setting-advanced" open={group.fields.some(isSetHere)}>
                <summary>Advanced</summary>
                {group.fields.filter((field) => field.advanced).map(row)}
              </details>
            )}
          </section>
        ))}
      <p className="panel-news" role="status">
        {news}
      </p>
    </>
  );
}
