import { ANY_AGENT, taskRefusals } from "../plan/task-refusals.ts";
import { checkDockerfile } from "./check-dockerfile.ts";
import { expandTaskEnv } from "./expand-task-env.ts";
import type { Finding } from "./finding.ts";
import { issue, warn } from "./finding.ts";
import type { ParsedTask } from "./parse-result.ts";
import { parseTask } from "./parse-task.ts";
import { formatProblem } from "./problem.ts";
import type { TaskFiles } from "./task-files.ts";
import { entriesBelow, hasFile, hasFolder } from "./task-files.ts";
import { problemOfName } from "./task-names.ts";

/** What a static look at a task finds. */
export interface TaskCheck {
  readonly name: string;
  /** The task cannot be right: it cannot be read, built or scored. */
  readonly issues: readonly string[];
  /** Worth a look; some are guesses from the text of scripts. */
  readonly warnings: readonly string[];
}

/** Checks a task without running anything (`bench tasks check`). Pure. */
export function checkTask(files: TaskFiles): TaskCheck {
  const findings = Array.from(findAll(files));
  const texts = (kind: Finding["kind"]) => {
    return findings.filter((finding) => finding.kind === kind).map((finding) => finding.text);
  };
  return { name: files.name, issues: texts("issue"), warnings: texts("warning") };
}

function* findAll(files: TaskFiles): Generator<Finding> {
  const name = problemOfName(files.name);
  if (name !== null) yield issue(name);
  const parsed = parseTask(files);
  if (parsed.kind === "invalid") {
    for (const problem of parsed.problems) yield issue(formatProblem(problem));
    return;
  }
  const { task } = parsed;
  for (const warning of task.warnings) yield warn(warning);
  const toControls = taskRefusals(task, { ...ANY_AGENT, agentIsHostile: false });
  for (const reason of taskRefusals(task, ANY_AGENT)) {
    const who = toControls.includes(reason) ? "" : ", but for the controls";
    yield warn(`not run by this edition${who}: ${reason}`);
  }
  yield* checkPrompt(task);
  yield* checkScripts(files, task);
  yield* checkOracle(files, task);
  yield* checkDockerfile(files, task);
  yield* checkLeaks(files, task);
  yield* checkTemplates(task);
}

function* checkPrompt({ prompt, config, layout }: ParsedTask): Generator<Finding> {
  if (config.steps.length > 0) return;
  const file = layout === "harbor" ? "instruction.md" : "task.md";
  if (prompt.trim() === "") yield issue(`${file}: the prompt is empty`);
  const { timeoutSec } = config.agent;
  if (timeoutSec === null) yield warn("agent.timeout_sec is not set, an agent gets 900 s");
  if ((timeoutSec ?? 0) > 86_400) yield warn(`agent.timeout_sec is ${timeoutSec}, more than a day`);
}

function* checkScripts(files: TaskFiles, task: ParsedTask): Generator<Finding> {
  for (const folder of [task.verifierDir, task.oracleDir]) {
    for (const [path, text] of files.texts) {
      if (!path.startsWith(`${folder ?? "\0"}/`) || !path.endsWith(".sh")) continue;
      if (text.includes("\r\n")) {
        yield issue(`${path}: has CRLF line ends, no shell on Linux runs it`);
      }
      if (text.startsWith("\uFEFF")) yield issue(`${path}: begins with a byte order mark`);
    }
  }
  const [word = ""] = task.verifierCommand.split(/\s/u);
  const entry = `${task.verifierDir}/${word.replace(/^\.\//u, "")}`;
  const text = files.texts.get(entry);
  if (text === undefined) return;
  if (!text.startsWith("#!")) yield warn(`${entry}: has no #! line`);
  if (files.entries.get(entry)?.executable === false) yield warn(`${entry}: is not executable`);
  if (!mentionsReward(files, task)) {
    yield warn(
      `${entry}: nothing in it looks like writing /logs/verifier/reward.txt or reward.json`,
    );
  }
  const { sandbox, verifier } = task.config;
  const tool = /\b(?:curl|wget|uvx|pip3? install|apt(?:-get)? install|npm (?:ci|install))\b/u.exec(
    text,
  );
  if ((verifier.networkMode ?? sandbox.networkMode) === "no-network" && tool !== null) {
    yield warn(`${entry}: calls ${tool[0]}, but the verifier has no network`);
  }
}

/** A guess from the verifier's shell scripts; one that brings other programs may write it in those. */
function mentionsReward(files: TaskFiles, { verifierDir }: ParsedTask): boolean {
  const inside = entriesBelow(files, verifierDir);
  const hasPrograms = inside.some(([path, { kind }]) => {
    return kind === "file" && !/\.(?:sh|md|txt|json)$/u.test(path);
  });
  const scripts = Array.from(files.texts).filter(([path]) => path.startsWith(`${verifierDir}/`));
  return (
    hasPrograms || scripts.some(([, text]) => /reward\.(?:txt|json)|\/logs\/verifier/u.test(text))
  );
}

function* checkOracle(files: TaskFiles, { config }: ParsedTask): Generator<Finding> {
  if (config.steps.length > 0) return;
  const folder = ["oracle", "solution"].find((each) => hasFolder(files, each));
  if (folder === undefined) {
    yield warn("there is no oracle/ or solution/, so nothing shows that the task can be solved");
  } else if (!hasFile(files, `${folder}/solve.sh`)) {
    yield issue(`${folder}/solve.sh: is not there, the oracle runs it`);
  }
}

/** Files of the verifier or the oracle that also stand in the build context, where agents find them. */
function* checkLeaks(files: TaskFiles, task: ParsedTask): Generator<Finding> {
  const context = new Map<string, string>();
  for (const [path, entry] of entriesBelow(files, task.environmentDir)) {
    if (entry.kind === "file" && entry.sizeBytes > 0) context.set(entry.sha256, path);
    if (
      entry.kind === "symlink" &&
      (entry.target.startsWith("/") || entry.target.startsWith("../.."))
    ) {
      yield warn(
        `${task.environmentDir}/${path}: is a link out of the build context, to ${entry.target}`,
      );
    }
  }
  for (const folder of [task.verifierDir, task.oracleDir]) {
    if (folder === null) continue;
    for (const [path, { kind, sha256 }] of entriesBelow(files, folder)) {
      const twin = kind === "file" ? context.get(sha256) : undefined;
      if (twin === undefined) continue;
      yield warn(
        `${task.environmentDir}/${twin}: is the same file as ${folder}/${path}, an agent may find it in the image`,
      );
    }
  }
}

function* checkTemplates(task: ParsedTask): Generator<Finding> {
  for (const { path, reason } of expandTaskEnv(task, {}, []).refusals) {
    yield warn(`${path}: ${reason}`);
  }
}
