import { expandWord } from "./expand-word.ts";
import type { ExpandRules } from "./expand-word.ts";
import type { Instruction, NamedValue } from "./instruction.ts";
import { DockerfileProblem } from "./instruction.ts";
import { explainProblem } from "./parse-dockerfile.ts";
import type { ImageConfig, StageScope } from "./stage-scope.ts";

export interface Applied {
  /** The instruction with its variables expanded, quotes removed: what a backend carries out. */
  readonly instruction: Instruction;
  /** What holds after it. */
  readonly scope: StageScope;
}

type Expand = (text: string) => string;

/**
 * Expands one instruction with what holds before it and gives what holds after it. Values set in one
 * instruction see the values from before it (`ENV A=2 B=$A` has the old A). RUN, CMD, ENTRYPOINT,
 * SHELL and HEALTHCHECK commands are left to their shell. Pure: a stage is a fold over this.
 *
 * Throws `BenchError` (config) with file and line.
 */
export function applyInstruction(scope: StageScope, instruction: Instruction): Applied {
  const variables = { ...scope.args, ...scope.config.env };
  const expandBy = (quotes: ExpandRules["quotes"]): Expand => {
    return (text) => {
      try {
        return expandWord(text, variables, { escape: scope.escape, quotes });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const problem = new DockerfileProblem(instruction.line, message);
        throw explainProblem(problem, scope.fileName);
      }
    };
  };
  const expanded = expandInstruction(instruction, expandBy("remove"), expandBy("literal"));
  return { instruction: expanded, scope: advance(scope, expanded) };
}

function expandInstruction(each: Instruction, expand: Expand, expandFile: Expand): Instruction {
  switch (each.kind) {
    case "ENV":
    case "LABEL": {
      const pairs = each.pairs.map(({ name, value }) => {
        return { name: expand(name), value: expand(value) };
      });
      return { ...each, pairs };
    }
    case "ARG": {
      const args = each.args.map(({ name, value }) => {
        return { name: expand(name), value: value === null ? null : expand(value) };
      });
      return { ...each, args };
    }
    case "WORKDIR":
    case "USER":
    case "STOPSIGNAL":
      return { ...each, value: expand(each.value) };
    case "EXPOSE":
    case "VOLUME":
      return { ...each, values: each.values.map(expand) };
    case "COPY":
    case "ADD":
      return {
        ...each,
        sources: each.sources.map(expand),
        dest: expand(each.dest),
        chown: each.chown === null ? null : expand(each.chown),
        chmod: each.chmod === null ? null : expand(each.chmod),
        exclude: each.exclude.map(expand),
        files: each.files.map((file) => {
          if (!file.expand) return file;
          return { name: file.name, content: expandFile(file.content), expand: false };
        }),
      };
    case "RUN":
      return {
        ...each,
        mounts: each.mounts.map(({ type, options }) => {
          const entries = Object.entries(options).map(([name, value]) => [name, expand(value)]);
          return { type, options: Object.fromEntries(entries) };
        }),
      };
    case "FROM":
    case "MAINTAINER":
    case "SHELL":
    case "CMD":
    case "ENTRYPOINT":
    case "HEALTHCHECK":
    case "ONBUILD":
      return each;
  }
}

function advance(scope: StageScope, each: Instruction): StageScope {
  if (each.kind === "ARG") {
    const args = { ...scope.args };
    for (const { name, value } of each.args) {
      const given = own(scope.buildArgs, name) ?? value ?? own(scope.globals, name);
      if (given !== undefined) args[name] = given;
    }
    return { ...scope, args };
  }
  const change = configChange(scope.config, each);
  return change === null ? scope : { ...scope, config: { ...scope.config, ...change } };
}

function configChange(config: ImageConfig, each: Instruction): Partial<ImageConfig> | null {
  switch (each.kind) {
    case "ENV":
      return { env: { ...config.env, ...asRecord(each.pairs) } };
    case "LABEL":
      return { labels: { ...config.labels, ...asRecord(each.pairs) } };
    case "WORKDIR":
      return { workdir: resolvePath(config.workdir, each.value) };
    case "USER":
      return { user: each.value };
    case "STOPSIGNAL":
      return { stopSignal: each.value };
    case "SHELL":
      return { shell: each.values };
    case "EXPOSE":
      return { exposedPorts: [...config.exposedPorts, ...each.values] };
    case "VOLUME":
      return { volumes: [...config.volumes, ...each.values] };
    case "CMD":
      return { command: each.command };
    case "ENTRYPOINT":
      // Docker forgets a base image's CMD when the stage sets another ENTRYPOINT.
      return { entrypoint: each.command, command: null };
    case "FROM":
    case "RUN":
    case "COPY":
    case "ADD":
    case "ARG":
    case "MAINTAINER":
    case "HEALTHCHECK":
    case "ONBUILD":
      return null;
  }
}

function asRecord(pairs: readonly NamedValue[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function own(values: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** `path` seen from `base`, with `.` and `..` resolved; `..` stops at the root. */
export function resolvePath(base: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
