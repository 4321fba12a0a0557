/** Addresses: `/` is a new conversation, `/c/ID` an old one. */

import { dispatch, state } from "../store";
import type { Route } from "../types";
import { closeChat, isListening, openConversation } from "./chat";

export function readRoute(path: string): Route {
  const found = /^\/c\/([0-9a-f]{32})$/.exec(path);
  return found?.[1] ? { name: "chat", id: found[1] } : { name: "home" };
}

export function pathOf(route: Route): string {
  return route.name === "chat" ? `/c/${route.id}` : "/";
}

export function go(route: Route, how: "push" | "replace" = "push"): void {
  const path = pathOf(route);
  if (path !== location.pathname) history[how === "push" ? "pushState" : "replaceState"](null, "", path);
  show(route);
}

/** Show what an address means. */
export function show(route: Route): void {
  dispatch({ type: "route/changed", route });
  if (route.name === "home") closeChat();
  else if (state().chat?.id !== route.id || !isListening()) void openConversation(route.id);
}
