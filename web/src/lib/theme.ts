/** Light, dark, or as the system says; kept by this browser. `public/theme.js` sets it before the first paint. */

export type Theme = "system" | "light" | "dark";
const KEY = "octavo.theme";
const listeners = new Set<() => void>();

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset.theme = theme;
  }
  for (const listener of listeners) listener();
}

/** Be told of every change; gives what ends it. */
export function watchTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
