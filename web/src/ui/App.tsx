/** The page: conversations at the side, one of them in the middle, what is open above both. */

import { useEffect } from "react";
import { keyAction, type Bound } from "../lib/keys";
import { go } from "../state/effects/route";
import { printAll } from "../state/effects/print";
import { stop } from "../state/effects/turns";
import { dispatch, useStore } from "../state/store";
import { ChatView } from "./chat/ChatView";
import { Home } from "./chat/Home";
import { Dialogs } from "./dialogs/Dialogs";
import { Toasts } from "./kit/Toasts";
import { Sidebar } from "./sidebar/Sidebar";

const KEYS: Bound = {
  find: () => dispatch({ type: "dialog/opened", dialog: { kind: "find" } }),
  create: () => go({ name: "home" }),
  stop: () => void stop(),
  print: () => void printAll(),
  help: () => dispatch({ type: "dialog/opened", dialog: { kind: "shortcuts" } }),
};

export function App() {
  const route = useStore((state) => state.route);
  const sidebar = useStore((state) => state.sidebar);
  const title = useStore((state) => (state.route.name === "chat" ? state.chat?.info?.title : ""));
  useEffect(() => {
    document.title = title ? `${title} · Octavo` : "Octavo";
  }, [title]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const action = keyAction(event);
      if (!action) return;
      if (action !== "stop") event.preventDefault();
      KEYS[action]();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <div className={sidebar ? "page sidebar-open" : "page"}>
      <a className="skip" href="#composer">
        Skip to the input
      </a>
      <Sidebar />
      {sidebar && (
        <button
          type="button"
          className="scrim"
          aria-label="Close the list"
          onClick={() => dispatch({ type: "sidebar/toggled", open: false })}
        />
      )}
      <main className="main">{route.name === "chat" ? <ChatView key={route.id} id={route.id} /> : <Home />}</main>
      <Toasts />
      <Dialogs />
    </div>
  );
}
