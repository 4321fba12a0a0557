/** Tabs: arrow keys go from one to the next, and the panel follows. */

import { useEffect, useId, type KeyboardEvent, type ReactNode } from "react";

export interface Tab<T extends string> {
  key: T;
  title: string;
}

interface Props<T extends string> {
  label: string;
  tabs: Tab<T>[];
  at: T;
  go: (key: T) => void;
  children: ReactNode;
}

export function Tabs<T extends string>({ label, tabs, at, go, children }: Props<T>) {
  const id = useId();
  // On a telephone the tabs are a row that scrolls.
  useEffect(() => {
    // In braces: browsers may give a promise, which is no clean-up.
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [id, at]);
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs.at((tabs.findIndex((tab) => tab.key === at) + step) % tabs.length);
    if (!next) return;
    go(next.key);
    document.getElementById(`${id}-${next.key}`)?.focus();
  };
  return (
    <div className="tabbed">
      <div role="tablist" aria-label={label} className="tabs" onKeyDown={pressed}>
        {tabs.map((tab) => (
          <button
            key={tab.key}
            id={`${id}-${tab.key}`}
            type="button"
            role="tab"
            className="tab"
            aria-selected={tab.key === at}
            aria-controls={tab.key === at ? `${id}-panel` : undefined}
            tabIndex={tab.key === at ? 0 : -1}
            onClick={() => go(tab.key)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${at}`} className="tab-panel" tabIndex={0}>
        {children}
      </div>
    </div>
  );
}
