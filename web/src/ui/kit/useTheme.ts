/** The theme that was chosen, here or at another place of the page. */

import { useSyncExternalStore } from "react";
import { readTheme, watchTheme, type Theme } from "../../lib/theme";

export const useTheme = (): Theme => useSyncExternalStore(watchTheme, readTheme);
