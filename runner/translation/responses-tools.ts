import { listOf, recordOf, textOf } from "../../core/usage/json-view.ts";
import type { JsonRecord } from "../../core/usage/json-view.ts";
import type { OfferedTool, ToolChoice } from "./conversation.ts";
import { FieldReader } from "./left-out.ts";
import type { LeftOut } from "./left-out.ts";
import { keepOfferedTools } from "./offered-tools.ts";
import type { ToolEntry } from "./offered-tools.ts";
import { requiredName } from "./required-fields.ts";

/** How the agent knows a tool that went to the provider under a name of ours. */
export interface KnownTool {
  readonly name: string;
  readonly namespace: string | null;
  /** Its input is plain text: to the provider a function with one string. */
  readonly isCustom: boolean;
}

export interface ResponsesTools {
  readonly offered: readonly OfferedTool[];
  /** By the name that was sent. */
  readonly known: ReadonlyMap<string, KnownTool>;
}

/** Tools in a namespace have no other place than their name. */
export function sentName(name: string, namespace: string | null): string {
  return namespace === null ? name : `${namespace}__${name}`;
}

/** The tools of a Responses request, those of its namespaces included. Throws `Untranslatable`. */
export function readResponsesTools(
  tools: readonly unknown[],
  choice: ToolChoice,
  leftOut: LeftOut,
): ResponsesTools {
  const known = new Map<string, KnownTool>();
  const read = (tool: JsonRecord, namespace: string | null): ToolEntry[] => {
    const type = textOf(tool["type"]) ?? "function";
    if (!["namespace", "function", "custom"].includes(type))
      return [{ name: sentName(textOf(tool["name"]) ?? type, namespace), type, tool: null }];
    const name = requiredName(tool["name"], "a tool without a name");
    if (type === "namespace")
      return listOf(tool["tools"]).flatMap((inner) => read(recordOf(inner), name));
    const sent = sentName(name, namespace);
    known.set(sent, { name, namespace, isCustom: type === "custom" });
    const offered = type === "custom" ? customTool(tool, sent) : functionTool(tool, sent, leftOut);
    return [{ name: sent, type, tool: offered }];
  };
  const entries = tools.flatMap((tool) => read(recordOf(tool), null));
  return { offered: keepOfferedTools(entries, choice, leftOut), known };
}

function functionTool(tool: JsonRecord, name: string, leftOut: LeftOut): OfferedTool {
  const fields = new FieldReader(tool);
  for (const read of ["type", "name"]) fields.take(read);
  const description = textOf(fields.take("description"));
  const schema = recordOf(fields.take("parameters"));
  fields.tellRest(leftOut, "tools.");
  return { name, description, schema };
}

/** A grammar can only be described; the model writes the text as a function's one argument. */
function customTool(tool: JsonRecord, name: string): OfferedTool {
  const { syntax, definition } = recordOf(tool["format"]);
  const grammar =
    textOf(definition) === null
      ? ""
      : `\nThe input must follow this ${String(syntax)} grammar:\n${String(definition)}`;
  return {
    name,
    description: (textOf(tool["description"]) ?? "") + grammar,
    schema: {
      type: "object",
      properties: { input: { type: "string" } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}
