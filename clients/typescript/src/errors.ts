import type { Code } from "./codes.js";

/** A refusal or a failure that the daemon answered. `code` says which rule or part of the system it was. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    /** HTTP status of the answer. */
    readonly status: number,
    /** A code of the table in docs/http.md, or of a workflow rule. */
    readonly code: Code | (string & {}),
    message: string,
    /** Facts about the error, such as `field` or `hint`. */
    readonly details: Readonly<Record<string, unknown>> = {},
    /** Seconds after which the same call may succeed. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  /** The next step that the daemon suggests. */
  get hint(): string | undefined {
    const hint = this.details["hint"];
    return typeof hint === "string" ? hint : undefined;
  }
}

/** The daemon gave no answer. The effect of a call with an idempotency key is unknown until the call is repeated with the key. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** Reads the error in the body of an answer, also of an answer that does not come from the daemon. */
export const refusalOf = async (response: Response): Promise<Refusal> => {
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  const after = Number.isNaN(retryAfter) ? undefined : retryAfter;
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: { code?: string; message?: string; details?: Record<string, unknown> } } | null)?.error;
  const code = error?.code ?? `http_${response.status}`;
  return new Refusal(response.status, code, error?.message ?? `the server answered ${response.status}`, error?.details, after);
};
