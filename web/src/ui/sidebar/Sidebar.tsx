/** Conversations: find one, start one, and the few things that belong to the whole page. */

import { go } from "../../state/effects/route";
import { dispatch } from "../../state/store";
import { Icon } from "../kit/Icon";
import { ConversationList } from "./ConversationList";
import { ConversationSearch } from "./ConversationSearch";
import { ImportButton } from "./ImportButton";
import { LabelBar } from "./LabelBar";
import { ThemeButton } from "./ThemeButton";

export function Sidebar() {
  return (
    <nav className="sidebar" aria-label="Conversations">
      <div className="sidebar-head">
        <a
          className="brand"
          href="/"
          onClick={(event) => {
            event.preventDefault();
            go({ name: "home" });
          }}
        >
          Octavo
        </a>
        <button type="button" className="button small" onClick={() => go({ name: "home" })}>
          <Icon name="plus" />
          New
        </button>
      </div>
      <ConversationSearch />
      <LabelBar />
      <ConversationList />
      <div className="sidebar-foot">
        <ThemeButton />
        <ImportButton />
        <button
          type="button"
          className="icon-button settings-button"
          aria-label="Settings"
          title="Settings"
          onClick={() => dispatch({ type: "dialog/opened", dialog: { kind: "settings", tab: "everything" } })}
        >
          <Icon name="gear" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="Keyboard shortcuts"
          onClick={() => dispatch({ type: "dialog/opened", dialog: { kind: "shortcuts" } })}
        >
          <Icon name="help" />
        </button>
      </div>
    </nav>
  );
}
