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
  signal?: AbortSignal;
  /** Lets a request outlive the page. */
  keepalive?: boolean;
}

export async function request<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const response = await ask(method, path, asked);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const fetchBlob = async (path: string): Promise<Blob> => (await ask("GET", path, {})).blob();

export interface Sending {
  /** Told how much of the file is sent, from 0 to 1. */
  progress?: (share: number) => void;
  signal?: AbortSignal;
}

/** Send a file as it is. Not by `fetch`, which does not tell how far it is. */
export function upload<T>(path: string, file: Blob, { progress, signal }: Sending = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = new XMLHttpRequest();
    sent.open("POST", address(path));
    for (const [name, value] of Object.entries(headers({ "content-type": "application/octet-stream" })))
      sent.setRequestHeader(name, value);
    sent.upload.onprogress = ({ loaded, total }) => progress?.(total > 0 ? loaded / total : 0);
    sent.onerror = () => reject(unreachable());
    sent.onabort = () => reject(new DOMException("", "AbortError"));
    sent.onload = () => {
      const type = sent.getResponseHeader("content-type") ?? "";
      const response = new Response(sent.responseText, {
        status: sent.status,
        statusText: sent.statusText,
        headers: { "content-type": type },
      });
      void (response.ok ? response.json().then((told) => resolve(told as T)) : problemOf(response).then(reject));
    };
    signal?.addEventListener("abort", () => sent.abort());
    sent.send(file);
  });
}

async function ask(method: string, path: string, asked: Asked): Promise<Response> {
  const init: RequestInit = { method, headers: headers() };
  if (asked.body !== undefined) {
    init.body = JSON.stringify(asked.body);
    init.headers = headers({ "content-type": "application/json" });
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
