// Types of calls, derived from the daemon's document.

import type { components, paths } from "./schema.js";

/** A type of the daemon's document, by name. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];
/** An event of the log. */
export type Event = Schema<"Event">;

type Method = "get" | "post";
type Call<P, M extends Method> = P extends keyof paths ? NonNullable<paths[P][M]> : never;

/** The paths that support a method. */
export type PathsOf<M extends Method> = { [P in keyof paths]: paths[P][M] extends object ? P : never }[keyof paths];
/** The operations of `POST /v1/api/…`. */
export type OperationName = keyof paths extends infer P ? (P extends `/v1/api/${infer Name}` ? Name : never) : never;

type ParametersOf<C> = C extends { parameters: infer All } ? All : object;
type InPath<C> = ParametersOf<C> extends { path: infer Values } ? Values : never;
type InQuery<C> = ParametersOf<C> extends { query?: infer Values } ? NonNullable<Values> : never;
type Body<C> = C extends { requestBody: { content: { "application/json": infer Given } } }
  ? { body: Given }
  : C extends { requestBody?: { content: { "application/json": infer Given } } }
    ? { body?: Given }
    : object;
/** A field with the values, which can be left out if no value is required. No field if there are no values. */
type Needed<Name extends string, Values> = [Values] extends [never]
  ? object
  : object extends Values
    ? { [N in Name]?: Values }
    : { [N in Name]: Values };

/** Options of every call. */
export interface CallOptions {
  /** Ends the call early. */
  signal?: AbortSignal;
  /** Time for one attempt, in milliseconds. Default: the client's. */
  timeoutMs?: number;
  /** Idempotency key of a call that records something. Default: a random key, which is kept for all attempts. */
  key?: string;
  /** Trace id of the recorded events. */
  traceId?: string;
}

/** Input of a call: the parameters in its path and query, its body, and its options. */
export type Input<P extends keyof paths, M extends Method> = Needed<"path", InPath<Call<P, M>>> &
  Needed<"query", InQuery<Call<P, M>>> &
  Body<Call<P, M>> &
  CallOptions;

type Success<C> = C extends { responses: infer All } ? All[Extract<keyof All, 200 | 201>] : never;
/** JSON of a successful answer. */
export type Data<P extends keyof paths, M extends Method> =
  Success<Call<P, M>> extends { content: { "application/json": infer Json } } ? Json : unknown;

type OperationPath<Name extends OperationName> = `/v1/api/${Name}` & keyof paths;
/** Input of an operation. */
export type OperationInput<Name extends OperationName> =
  Body<Call<OperationPath<Name>, "post">> extends { body?: infer Given } ? NonNullable<Given> : never;
/** Data of an operation's answer. */
export type OperationData<Name extends OperationName> = Data<OperationPath<Name>, "post"> extends { data: infer Given } ? Given : never;

/** The arguments after the name of a call. They can be left out if nothing in them is required. */
export type Arguments<Given> = object extends Given ? [input?: Given] : [input: Given];

/** A successful answer. */
export interface Answer<T> {
  data: T;
  /** True if this repeats the answer to an earlier call with the key. */
  replayed: boolean;
  /** Seq of the last event that the answer includes, if the call has `at`. */
  at: number | undefined;
  /** Note about the team, such as the result of a recovery. */
  note: string | undefined;
}
