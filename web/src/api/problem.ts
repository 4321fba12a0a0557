/** Everything that can go wrong with a request, as one value that can be shown. */

import type { ErrorDetail } from "./types";

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly detail: ErrorDetail,
  ) {
    super(detail.message);
    this.name = "Problem";
  }

  /** Nobody answered: the server is away, or the network is. */
  get offline(): boolean {
    return this.status === 0;
  }
}

export function unreachable(): Problem {
  return new Problem(0, {
    type: "unreachable",
    message: "The server does not answer.",
    numbers: {},
    hint: "It may be restarting; nothing that was stored is lost.",
    request_id: "",
  });
}

/** Read the error of a response; something between us and the server may have answered in its place. */
export async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as { error?: ErrorDetail };
    if (body.error) return new Problem(response.status, body.error);
  } catch {
    // Not JSON: told below by its status.
  }
  return new Problem(response.status, {
    type: "http",
    message: `The answer was ${response.status} ${response.statusText}.`,
    numbers: {},
    hint: "",
    request_id: response.headers.get("x-request-id") ?? "",
  });
}
