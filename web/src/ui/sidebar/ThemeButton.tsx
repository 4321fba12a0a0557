/** Goes round: as the system says, light, dark. */

import { setTheme, type Theme } from "../../lib/theme";
import { Icon } from "../kit/Icon";
import { useTheme } from "../kit/useTheme";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const NAMES: Record<Theme, string> = { system: "System theme", light: "Light theme", dark: "Dark theme" };

export function ThemeButton() {
  const theme = useTheme();
  return (
    <button type="button" className="button quiet small" onClick={() => setTheme(NEXT[theme])}>
      <Icon name="theme" />
      {NAMES[theme]}
    </button>
  );
}
