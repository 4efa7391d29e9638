export { Teamlog, type ClientOptions, type Connection } from "./client.js";
export type { Code } from "./codes.js";
export type { Consume, Delivery } from "./consume.js";
export { Refusal, Unreachable } from "./errors.js";
export type { components, paths } from "./schema.js";
export type { Follow } from "./stream.js";
export type { Answer, CallOptions, Data, Event, Input, OperationData, OperationInput, OperationName, Schema } from "./types.js";
