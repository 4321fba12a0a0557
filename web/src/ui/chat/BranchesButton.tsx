/** Opens the tree of branches. */

import { dispatch } from "../../state/store";
import { Icon } from "../kit/Icon";

export function BranchesButton() {
  return (
    <button
      type="button"
      className="icon-button tool"
      aria-label="Branches"
      title="Branches"
      onClick={() => dispatch({ type: "dialog/opened", dialog: { kind: "branches" } })}
    >
      <Icon name="branch" />
      <span className="tool-word">Branches</span>
    </button>
  );
}
