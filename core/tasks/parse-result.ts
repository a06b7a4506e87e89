import type { Refusal, Task, TaskConfig, TaskDocument } from "../model/task.ts";
import type { Problem } from "./problem.ts";

/** A definition file and its prompt, before the folder around it is looked at. */
export interface Definition {
  readonly layout: Task["layout"];
  readonly prompt: string;
  readonly config: TaskConfig;
  readonly document: TaskDocument;
  readonly warnings: readonly string[];
}

export type DefinitionResult =
  | { readonly kind: "parsed"; readonly definition: Definition }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** A task but for what only a disk knows: where it is, its digests, its source. */
export type ParsedTask = Omit<Task, "dir" | "digest" | "image" | "source">;

export type TaskResult =
  | { readonly kind: "parsed"; readonly task: ParsedTask }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** The folders and the command that score and solve a task. */
export interface TaskFolders {
  readonly verifierDir: Task["verifierDir"];
  readonly oracleDir: Task["oracleDir"];
  readonly verifierCommand: string;
  readonly aggregatePolicy: TaskConfig["verifier"]["aggregatePolicy"];
  readonly refusals: readonly Refusal[];
}
