/** Light, dark, or as the system says: kept by this browser. */

import { setTheme, type Theme } from "../../lib/theme";
import { useTheme } from "../kit/useTheme";

const THEMES: [Theme, string][] = [
  ["system", "As the system says"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function AppearancePanel() {
  const theme = useTheme();
  return (
    <fieldset className="choices">
      <legend>Theme</legend>
      {THEMES.map(([key, name]) => (
        <label key={key} className="choice">
          <input type="radio" name="theme" checked={theme === key} onChange={() => setTheme(key)} />
          {name}
        </label>
      ))}
      <p className="setting-note">Kept by this browser; every other setting is kept by the server.</p>
    </fieldset>
  );
}
