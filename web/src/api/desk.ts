/** Calls of the settings and of the history, one function each. */

import { request } from "./http";
import type { Card, CardIn, Context, Hits, Key, KeyIn, KeyMade, Keys, Settings, SettingsIn } from "./types";

/** Settings of a level: `settings`, `settings/models/NAME` or `conversations/ID/settings`. */
export const readLevel = (path: string) => request<Settings>("GET", path);
export const changeLevel = (path: string, change: SettingsIn) => request<Settings>("PATCH", path, { body: change });

/** A model's name may have slashes, which stay. */
export const modelPath = (name: string) => name.split("/").map(encodeURIComponent).join("/");
export const defineModel = (name: string, card: CardIn) =>
  request<Card>("PUT", `models/${modelPath(name)}`, { body: card });
export const removeModel = (name: string) => request<void>("DELETE", `models/${modelPath(name)}`);

export const listKeys = () => request<Keys>("GET", "keys");
export const createKey = (key: KeyIn) => request<KeyMade>("POST", "keys", { body: key });
export const revokeKey = (id: string) => request<Key>("DELETE", `keys/${id}`);

export const readContext = (id: string) => request<Context>("GET", `conversations/${id}/context`);
export const searchMessages = (id: string, q: string, limit: number, signal: AbortSignal) =>
  request<Hits>("GET", "search", { query: { q, conversation: id, limit }, signal });
