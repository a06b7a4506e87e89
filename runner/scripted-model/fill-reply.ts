import { recordOf } from "../../core/usage/json-view.ts";
import type { Turn } from "../../core/model/model-script.ts";
import type { ModelRequest } from "./read-model-request.ts";
import type { OfferedTool, ReplyCall, ScriptedReply } from "./scripted-reply.ts";
import { usageShape } from "./usage-shapes.ts";

/** Names that agents give to the tool that runs a command, the surest first. */
const SHELL_NAMES = [
  /^(?:bash|shell|local_shell|exec_command|shell_command|run_shell_command|run_command|execute_command|terminal|exec)$/iu,
  /bash|shell|exec|command|terminal/iu,
];
const NOT_SHELL = /output|kill|stop|write_stdin|list/iu;
const COMMAND_FIELDS = ["command", "cmd", "script", "code", "commands"];

export function shellTool(tools: readonly OfferedTool[]): OfferedTool | null {
  for (const pattern of SHELL_NAMES)
    for (const tool of tools)
      if (pattern.test(tool.name) && !NOT_SHELL.test(tool.name)) return tool;
  return null;
}

/** A turn as a reply to this request. Throws when the turn calls a tool that the agent does not offer. */
export function fillReply(turn: Turn, request: ModelRequest): ScriptedReply {
  const commands = turn.shell === undefined ? [] : [turn.shell].flat();
  return {
    model: request.model,
    reasoning: turn.reasoning ?? null,
    text: turn.text ?? null,
    calls: [
      ...commands.map((command) => shellCall(command, request.tools)),
      ...turn.calls.map((call) => ({ tool: findTool(call.tool, request.tools), args: call.args })),
    ],
    stop: turn.stop ?? null,
    usage: usageShape(request.protocol, turn.usage),
  };
}

function findTool(name: string, tools: readonly OfferedTool[]): OfferedTool {
  const lower = name.toLowerCase();
  const found =
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => tool.name.toLowerCase().includes(lower));
  if (found !== undefined) return found;
  throw new Error(`no tool ${name} among ${tools.map((tool) => tool.name).join(", ")}`);
}

function shellCall(command: string, tools: readonly OfferedTool[]): ReplyCall {
  const tool = shellTool(tools);
  if (tool === null) throw new Error(`no shell among ${tools.map(({ name }) => name).join(", ")}`);
  if (tool.type === "local_shell") return { tool, args: { command: ["bash", "-lc", command] } };
  const properties = recordOf(tool.schema["properties"]);
  const required = Array.isArray(tool.schema["required"]) ? tool.schema["required"] : [];
  const field = COMMAND_FIELDS.find((name) => name in properties) ?? "command";
  const args: Record<string, unknown> = {
    [field]: commandValue(command, field, properties[field]),
  };
  for (const name of required)
    if (typeof name === "string" && !(name in args)) args[name] = anyValue(properties[name]);
  return { tool, args };
}

function commandValue(command: string, field: string, schema: unknown): unknown {
  const isArray = String(recordOf(schema)["type"]).toLowerCase() === "array";
  if (!isArray) return command;
  return field === "commands" ? [command] : ["bash", "-lc", command];
}

/** Something that satisfies a schema, for fields that the script does not care about. */
function anyValue(schema: unknown): unknown {
  const { type, enum: choices } = recordOf(schema);
  if (Array.isArray(choices)) return choices[0];
  const kind = String(Array.isArray(type) ? type[0] : type).toLowerCase();
  const values: Record<string, unknown> = {
    boolean: false,
    integer: 30_000,
    number: 30_000,
    array: [],
    object: {},
  };
  return values[kind] ?? "scripted step";
}
