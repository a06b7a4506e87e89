import { Untranslatable } from "./conversation.ts";
import type { OfferedTool, ToolChoice } from "./conversation.ts";
import type { LeftOut } from "./left-out.ts";
import { requiredName } from "./required-fields.ts";

/** A tool of a request; null where another protocol cannot have it. */
export interface ToolEntry {
  readonly name: string;
  readonly type: string;
  readonly tool: OfferedTool | null;
}

/** A tool that every protocol can have. Throws `Untranslatable` for one without a name. */
export function offeredTool(
  tool: Omit<OfferedTool, "name"> & { readonly name: unknown },
): ToolEntry {
  const name = requiredName(tool.name, "a tool without a name");
  return { name, type: "function", tool: { ...tool, name } };
}

/**
 * The tools that another protocol can have. Those that only the agent's own provider knows, web search
 * and the like, are left out and told; a request that is about nothing else is refused.
 */
export function keepOfferedTools(
  entries: readonly ToolEntry[],
  choice: ToolChoice,
  leftOut: LeftOut,
): readonly OfferedTool[] {
  const kept = entries.flatMap(({ tool }) => tool ?? []);
  const others = entries.filter(({ tool }) => tool === null);
  const wanted = others.find(({ name }) => typeof choice === "object" && choice.name === name);
  const only = wanted ?? (kept.length === 0 ? others[0] : undefined);
  if (only !== undefined) throw new Untranslatable(`a tool of type ${only.type}`);
  for (const { type } of others) leftOut.add(`tool ${type}`);
  return kept;
}
