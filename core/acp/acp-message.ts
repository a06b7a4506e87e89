import * as z from "zod";
import { parseJson } from "../usage/json-view.ts";

/** What a JSON-RPC id may be here. Agents choose theirs freely; ours are numbers. */
const MessageId = z.union([z.number(), z.string().max(256), z.null()]);

const Method = z.string().max(256);

const AcpError = z.object({
  code: z.int(),
  message: z.string(),
  data: z.unknown().optional(),
});

/** A JSON-RPC 2.0 message as it came from an agent, in its outer form only. */
const Envelope = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: MessageId.optional(),
  method: Method.optional(),
});

export const PermissionOption = z.looseObject({
  optionId: z.string(),
  kind: z.string().catch(""),
});
export type PermissionOption = z.infer<typeof PermissionOption>;

/** The parameters of `session/request_permission` (spec 10.3). */
export const PermissionRequest = z.looseObject({
  sessionId: z.string(),
  options: z.array(PermissionOption).max(1000),
});

/** The parameters of `session/update`; what the update says is read by its own kind. */
export const SessionUpdate = z.looseObject({
  sessionId: z.string(),
  update: z.looseObject({ sessionUpdate: z.string() }),
});
export type SessionUpdate = z.infer<typeof SessionUpdate>;

/** A request of the agent's, for whoever answers it. */
export interface AgentRequest {
  readonly jsonrpc: "2.0";
  readonly id: number | string | null;
  readonly method: string;
  readonly params: unknown;
}

/** An answer of the agent's. */
export type AgentAnswer = { readonly jsonrpc: "2.0"; readonly id: number | string | null } & (
  | { readonly result: unknown }
  | { readonly error: z.infer<typeof AcpError> }
);

export type AcpMessage =
  | { readonly kind: "answer"; readonly message: AgentAnswer }
  | { readonly kind: "request"; readonly message: AgentRequest }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  /** A line that is no message: a program's chatter, or an attempt on its reader. */
  | { readonly kind: "noise" };

/** What one line of an agent's output is. Never throws, whatever the line holds. */
export function readAcpMessage(line: string): AcpMessage {
  const parsed = Envelope.safeParse(parseJson(line));
  if (!parsed.success) return { kind: "noise" };
  const { id, method, ...rest } = parsed.data;
  const params = rest["params"];
  if (method === undefined) return id === undefined ? { kind: "noise" } : answerOf(id, rest);
  if (id === undefined) return { kind: "notification", method, params };
  return { kind: "request", message: { jsonrpc: "2.0", id, method, params } };
}

/** An answer that says neither or both is an error, so that whoever asked does not wait for ever. */
function answerOf(id: number | string | null, fields: Record<string, unknown>): AcpMessage {
  const hasResult = Object.hasOwn(fields, "result");
  if (hasResult && !Object.hasOwn(fields, "error"))
    return { kind: "answer", message: { jsonrpc: "2.0", id, result: fields["result"] } };
  const error = AcpError.safeParse(fields["error"]);
  const told =
    error.success && !hasResult ? error.data : { code: -32600, message: "malformed answer" };
  return { kind: "answer", message: { jsonrpc: "2.0", id, error: told } };
}
