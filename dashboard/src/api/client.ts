// Calls of the daemon. The session token is sent only in the Authorization header, never in a URL.

export type Params = Record<string, string | number | boolean | null | undefined>;

/** Error of a call: a refusal of the daemon, or `unreachable` if there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Record<string, unknown>;

  constructor(status: number, code: string, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.details = details;
    this.hint = typeof details["hint"] === "string" ? details["hint"] : undefined;
  }
}

export interface Answer<T> {
  data: T;
  /** The seq of the state in the answer, if the call named a past point with `at`. */
  at: number | null;
}

export interface Credentials {
  /** Returns the session token, or null without a session. */
  token(): string | null;
  /** Returns the team for the parameter `teamId`. Needed with a session for all teams. */
  teamId(): string | null;
  /** Called when the daemon no longer accepts the session. */
  refused(): void;
  /** Called after each call. `yes` is false if there was no answer. */
  reached(yes: boolean): void;
}

let credentials: Credentials = { token: () => null, teamId: () => null, refused: () => {}, reached: () => {} };

/** Sets the functions from which calls get their session. */
export const useCredentials = (given: Credentials): void => {
  credentials = given;
};

const address = (path: string, params: Params): string => {
  const query = new URLSearchParams();
  const team = path.startsWith("/v1/root/") || path.startsWith("/v1/session") ? null : credentials.teamId();
  for (const [name, value] of Object.entries({ ...params, teamId: team })) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
};

const failure = async (response: Response): Promise<ApiError> => {
  let code = `http_${response.status}`;
  let message = `the daemon answered ${response.status}`;
  let details: Record<string, unknown> = {};
  try {
    const body = (await response.json()) as { error?: { code?: string; message?: string; details?: Record<string, unknown> } };
    code = body.error?.code ?? code;
    message = body.error?.message ?? message;
    details = body.error?.details ?? {};
  } catch {
    // The body is not an error of the daemon. The HTTP status is enough.
  }
  return new ApiError(response.status, code, message, details);
};

/** Sends a request. Returns the response, or throws an `ApiError`. */
export const send = async (path: string, params: Params, init: RequestInit): Promise<Response> => {
  const headers = new Headers(init.headers);
  const token = credentials.token();
  if (!headers.has("Authorization") && token !== null) headers.set("Authorization", `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(address(path, params), {
      ...init,
      headers,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    credentials.reached(false);
    throw new ApiError(0, "unreachable", "the daemon does not answer");
  }
  credentials.reached(true);
  if (response.ok) return response;
  // Sign out only if the refused token is still the current token.
  if (response.status === 401 && token !== null && token === credentials.token()) credentials.refused();
  throw await failure(response);
};

export const get = async <T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<Answer<T>> => {
  const response = await send(path, params, signal === undefined ? {} : { signal });
  const at = response.headers.get("X-Teamlog-At");
  return { data: (await response.json()) as T, at: at === null ? null : Number(at) };
};

/** Records something. The call has an idempotency key, so repeating it after a lost answer records nothing new. */
export const post = async <T>(path: string, body: object = {}, params: Params = {}): Promise<T> => {
  const once: RequestInit = {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
  };
  let response: Response;
  try {
    response = await send(path, params, once);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "unreachable") throw error;
    response = await send(path, params, once);
  }
  const answer = (await response.json()) as T & { ok?: boolean; error?: { code: string; message: string; details?: Record<string, unknown> } };
  // In the envelope of an operation, `ok` says if the operation was carried out.
  if (answer.ok === false && answer.error !== undefined) throw new ApiError(response.status, answer.error.code, answer.error.message, answer.error.details);
  return answer;
};
