/** One request: adds the key, reads JSON, and turns every failure into a `Problem`. */

import { problemOf, unreachable } from "./problem";

export const API = "/api/v1";
const KEY = "octavo.key";

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The key is kept for this tab only: a shared machine forgets it when the tab is closed. */
export function setKey(key: string): void {
  sessionStorage.setItem(KEY, key);
}

export function headers(more: Record<string, string> = {}): Record<string, string> {
  const key = sessionStorage.getItem(KEY);
  return key ? { ...more, authorization: `Bearer ${key}` } : more;
}

export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `${path.startsWith("/") ? "" : `${API}/`}${path}${search.size ? `?${search}` : ""}`;
}

export interface Asked {
  query?: Query;
  body?: unknown;
  file?: Blob;
  signal?: AbortSignal;
  /** Lets a request outlive the page. */
  keepalive?: boolean;
}

export async function request<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const response = await ask(method, path, asked);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const fetchBlob = async (path: string): Promise<Blob> => (await ask("GET", path, {})).blob();

/** Send a file as it is. */
export async function upload<T>(path: string, file: Blob): Promise<T> {
  return (await (await ask("POST", path, { file })).json()) as T;
}

async function ask(method: string, path: string, asked: Asked): Promise<Response> {
  const init: RequestInit = { method, headers: headers() };
  if (asked.body !== undefined) {
    init.body = JSON.stringify(asked.body);
    init.headers = headers({ "content-type": "application/json" });
  }
  if (asked.file) {
    init.body = asked.file;
    init.headers = headers({ "content-type": "application/octet-stream" });
  }
  if (asked.signal) init.signal = asked.signal;
  if (asked.keepalive) init.keepalive = true;
  let response: Response;
  try {
    response = await fetch(address(path, asked.query), init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}
