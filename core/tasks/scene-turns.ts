import * as z from "zod";
import type { TaskDocument } from "../model/task.ts";
import { isRecord } from "./plain-data.ts";

/** One prompt of a task's scenes. */
export interface SceneTurn {
  readonly scene: string;
  readonly role: string;
  readonly prompt: string;
  /** Its scene's first: the agent begins anew, and sees of what was before only the workspace. */
  readonly opensSession: boolean;
}

export type ScenesReading =
  | { readonly kind: "none" }
  | { readonly kind: "turns"; readonly turns: readonly [SceneTurn, ...SceneTurn[]] }
  | { readonly kind: "refused"; readonly reason: string };

const Turn = z.strictObject({ role: z.string(), prompt: z.string().nullish() });
const Scenes = z.array(
  z.strictObject({
    name: z.string(),
    roles: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).nullish(),
    turns: z.array(Turn).min(1),
  }),
);

const PARTS = ["base", "role", "scene", "turn"] as const;
const Part = z.enum(PARTS);
type Part = z.infer<typeof Part>;
const Composition = z.strictObject({
  composition: z.enum(["append", "replace"]).default("replace"),
  order: z.array(Part).min(1).nullish(),
});
/** Who works is decided by the run; the rest of a role would change how. */
const ROLE_KEYS = new Set(["agent", "model", "reasoning_effort", "capabilities"]);

/**
 * The prompts of a task's scenes, in order, each composed of the task's prompt, its role's, its scene's
 * and its turn's own text (`benchflow.prompt`: all that there are in its order, or the first of it). One
 * agent plays the one role there may be.
 */
export function readScenes(document: TaskDocument, base: string): ScenesReading {
  if (document.scenes.length === 0) return { kind: "none" };
  const scenes = Scenes.safeParse(document.scenes);
  if (!scenes.success) return refused(`they are of another form: ${firstIssue(scenes.error)}`);
  const composition = Composition.safeParse(document.benchflow["prompt"] ?? {});
  if (!composition.success)
    return refused(`benchflow.prompt is of another form: ${firstIssue(composition.error)}`);
  const spoken = scenes.data.flatMap(({ name, turns }) =>
    turns.map((turn, index) => ({ ...turn, scene: name, opensSession: index === 0 })),
  );
  const roles = [...new Set(spoken.map(({ role }) => role))];
  if (roles.length > 1)
    return refused(`the roles ${roles.join(", ")} would need an agent each, and a run has one`);
  const own = ownSettings(document, roles[0] ?? "");
  if (own.length > 0) return refused(`agents.roles.${roles[0] ?? ""} sets ${own.join(", ")}`);
  const compose = composer(composition.data);
  const [first, ...others] = spoken.map(({ scene, role, prompt, opensSession }): SceneTurn => {
    const parts = {
      base,
      role: document.rolePrompts[role],
      scene: document.scenePrompts[scene],
      turn: prompt ?? undefined,
    };
    return { scene, role, opensSession, prompt: compose(parts) };
  });
  if (first === undefined || [first, ...others].some(({ prompt }) => prompt === ""))
    return refused("a turn has no prompt");
  return { kind: "turns", turns: [first, ...others] };
}

type Parts = Readonly<Record<Part, string | undefined>>;

function composer({ composition, order }: z.infer<typeof Composition>): (parts: Parts) => string {
  const isAppended = composition === "append";
  const inOrder = order ?? (isAppended ? PARTS : PARTS.toReversed());
  return (parts) => {
    const texts = inOrder.map((part) => (parts[part] ?? "").trim()).filter((text) => text !== "");
    return isAppended ? texts.join("\n\n") : (texts[0] ?? "");
  };
}

function ownSettings({ agents }: TaskDocument, role: string): string[] {
  const { roles } = agents;
  const settings = isRecord(roles) ? roles[role] : undefined;
  return isRecord(settings) ? Object.keys(settings).filter((key) => !ROLE_KEYS.has(key)) : [];
}

function firstIssue({ issues }: z.ZodError): string {
  const [first] = issues;
  return `${(first?.path ?? []).join(".")} ${first?.message ?? ""}`.trim();
}

function refused(reason: string): ScenesReading {
  return { kind: "refused", reason };
}
