/** Opens the list on a small screen, where it is out of the way. */

import { dispatch, useStore } from "../../state/store";
import { Icon } from "../kit/Icon";

export function SidebarButton() {
  const open = useStore((state) => state.sidebar);
  return (
    <button
      type="button"
      className="icon-button sidebar-button"
      aria-label="Conversations"
      aria-expanded={open}
      onClick={() => dispatch({ type: "sidebar/toggled", open: !open })}
    >
      <Icon name="menu" />
    </button>
  );
}
