/** The one store. Components read it with `useStore(selector)`; effects read `state()` and call `dispatch`. */

import { useSyncExternalStore } from "react";
import { reduce } from "./reduce";
import { INITIAL, type Action, type State } from "./types";

let current: State = INITIAL;
const listeners = new Set<() => void>();

export function state(): State {
  return current;
}

export function dispatch(action: Action): void {
  const next = reduce(current, action);
  if (next === current) return;
  current = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Read a part of the state. The selector gives the same value for the same state: no new objects. */
export function useStore<T>(selector: (state: State) => T): T {
  return useSyncExternalStore(subscribe, () => selector(current));
}
