import * as z from "zod";
import type { AggregatePolicy, Refusal } from "../model/task.ts";
import type { KeyPath, Problem } from "./problem.ts";
import { formatPath, showValue } from "./problem.ts";
import { readYaml } from "./read-yaml.ts";
import { splitFrontmatter } from "./split-frontmatter.ts";

/** What `verifier/verifier.md` decides about how a task is scored (spec 6.5). */
export interface VerifierDocument {
  /** The shell line to run in the verifier's folder; null when the strategy is not a script. */
  readonly command: string | null;
  readonly aggregatePolicy: AggregatePolicy | null;
  readonly refusals: readonly Refusal[];
}

export type ReadVerifier =
  | { readonly kind: "read"; readonly document: VerifierDocument }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

const RelativePath = z
  .string()
  .min(1)
  .refine((path) => isInside(path), { error: "must be a relative path with no .. in it" });
const Inputs = z.array(z.string().min(1)).min(1);

const Strategy = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("script"), command: z.string().trim().min(1) }),
  z.looseObject({ type: z.literal("llm-judge"), rubric: z.string().min(1) }),
  z.looseObject({ type: z.literal("reward-kit"), root: RelativePath }),
  z.looseObject({ type: z.literal("agent-judge"), role: z.string().min(1), inputs: Inputs }),
  z.looseObject({ type: z.literal("ors-episode"), inputs: Inputs }),
]);

const Frontmatter = z.looseObject({
  verifier: z.looseObject({
    name: z.string().optional(),
    default_strategy: z.string().optional(),
    strategies: z.record(z.string(), Strategy),
    outputs: z
      .looseObject({
        reward_text: z.string().nullish(),
        reward_json: z.string().nullish(),
        details_json: z.string().nullish(),
        aggregate_policy: z
          .looseObject({
            field: z.string().nullish(),
            method: z.string().nullish(),
            fallback: z.string().nullish(),
            weights: z.record(z.string(), z.number()).nullish(),
            threshold: z.number().nullish(),
          })
          .nullish(),
      })
      .nullish(),
  }),
});
type Outputs = z.infer<typeof Frontmatter>["verifier"]["outputs"];

/** Where the two reward files are read from; a document may only repeat it. */
const REWARD_PATHS = {
  reward_text: "/logs/verifier/reward.txt",
  reward_json: "/logs/verifier/reward.json",
} as const;

/** Reads verifier.md. Scripts run; the other strategies become refusals that name them. */
export function readVerifierDocument(text: string, file: string): ReadVerifier {
  const split = splitFrontmatter(text);
  if (split.kind === "invalid") {
    const place = { line: split.line, column: 1 };
    return { kind: "invalid", problems: [{ file, place, message: split.message }] };
  }
  const yaml = readYaml(split.yaml, { file, linesBefore: 1 });
  if (yaml.kind === "invalid") return { kind: "invalid", problems: [yaml.problem] };
  const problemAt = (path: KeyPath, message: string): Problem => {
    return { file, place: yaml.locate(path), message: `${formatPath(path)}: ${message}` };
  };
  const parsed = Frontmatter.safeParse(yaml.value);
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, 20).map((issue) => {
      return problemAt(issue.path.map(String), issue.message);
    });
    return { kind: "invalid", problems };
  }
  const { strategies, default_strategy, outputs } = parsed.data.verifier;
  const name = default_strategy ?? Object.keys(strategies)[0];
  const strategy =
    name === undefined || !Object.hasOwn(strategies, name) ? undefined : strategies[name];
  if (name === undefined || strategy === undefined) {
    const message = `${showValue(name ?? null)} is none of the declared strategies`;
    return { kind: "invalid", problems: [problemAt(["verifier", "default_strategy"], message)] };
  }
  const at = ["verifier", "strategies", name];
  const firstWord = strategy.type === "script" ? (strategy.command.split(/\s/u)[0] ?? "") : "";
  if (strategy.type === "script" && !isInside(firstWord)) {
    const message = `${showValue(strategy.command)} must begin with a relative path with no .. in it`;
    return { kind: "invalid", problems: [problemAt([...at, "command"], message)] };
  }
  const field = outputs?.aggregate_policy?.field ?? "reward";
  if (field !== "reward") {
    const path = ["verifier", "outputs", "aggregate_policy", "field"];
    const message = `${showValue(field)}, the field of a run's score can only be "reward"`;
    return { kind: "invalid", problems: [problemAt(path, message)] };
  }
  const refusals = [...refuseStrategy(at, strategy.type), ...refuseOutputs(outputs)];
  const command = strategy.type === "script" ? strategy.command : null;
  const document = { command, aggregatePolicy: readPolicy(outputs), refusals };
  return { kind: "read", document };
}

function refuseStrategy(path: KeyPath, type: string): readonly Refusal[] {
  if (type === "script") return [];
  const reason = `verifiers of type ${type} are not run by this edition, only scripts are`;
  return [{ path: formatPath([...path, "type"]), reason }];
}

function refuseOutputs(outputs: Outputs): readonly Refusal[] {
  return Object.entries(REWARD_PATHS).flatMap(([key, expected]) => {
    const path = outputs?.[key] ?? expected;
    if (path === expected) return [];
    const reason = `the reward is read from ${expected}, not from ${showValue(path)}`;
    return [{ path: `verifier.outputs.${key}`, reason }];
  });
}

function readPolicy(outputs: Outputs): AggregatePolicy | null {
  const policy = outputs?.aggregate_policy;
  const method = policy?.method ?? policy?.fallback ?? null;
  if (method === null) return null;
  return {
    method: method.replaceAll("-", "_"),
    weights: policy?.weights ?? null,
    threshold: policy?.threshold ?? 0.7,
  };
}

function isInside(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split("/").includes("..");
}
