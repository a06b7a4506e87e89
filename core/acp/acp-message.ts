import * as z from "zod";

/** What a JSON-RPC id may be here. Agents choose theirs freely; ours are numbers. */
const MessageId = z.union([z.number(), z.string().max(256), z.null()]);

const Method = z.string().max(256);

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

export type AcpMessage =
  | { readonly kind: "response"; readonly id: number | string | null; readonly message: object }
  | { readonly kind: "request"; readonly method: string; readonly message: object }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  /** A line that is no message: a program's chatter, or an attempt on its reader. */
  | { readonly kind: "noise" };

/** What one line of an agent's output is. Never throws, whatever the line holds. */
export function readAcpMessage(line: string): AcpMessage {
  const parsed = Envelope.safeParse(parseJson(line));
  if (!parsed.success) return { kind: "noise" };
  const { id, method, ...rest } = parsed.data;
  const message = parsed.data;
  if (method === undefined)
    return id === undefined ? { kind: "noise" } : { kind: "response", id, message };
  if (id !== undefined) return { kind: "request", method, message };
  return { kind: "notification", method, params: rest["params"] };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
