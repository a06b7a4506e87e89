import type { Instruction, RunCommand } from "./instruction.ts";

/** Programs whose common use is to get something from the network. */
const FETCHERS: ReadonlySet<string> = new Set(
  [
    "apt apt-get aptitude add-apt-repository apk dnf microdnf yum zypper pacman brew nix nix-env",
    "curl wget aria2c rsync scp svn hg gcloud aws hf huggingface-cli playwright",
    "pip pip2 pip3 pipx pipenv poetry uv uvx pdm hatch conda mamba micromamba",
    "npm npx pnpm yarn corepack bun deno cargo rustup gem bundle composer cpan cpanm",
    "mvn mvnw gradle gradlew dotnet nuget stack cabal opam mix",
  ].flatMap((names) => names.split(" ")),
);

/** Programs that reach the network in some of their uses, by the word that follows. */
const FETCHING_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set(["clone", "fetch", "pull", "submodule", "lfs", "ls-remote"]),
  go: new Set(["get", "install", "mod", "build", "test", "run"]),
};

/**
 * The program by which a step gets something from the network; null when nothing in it looks like
 * one. Read from the step's own words, never from what it printed: a step that fails may then have
 * failed for want of a network, and a second try may go well.
 */
export function findFetch(each: Instruction): string | null {
  if (each.kind === "RUN") return findFetcher(scriptOf(each.command));
  if (each.kind !== "ADD") return null;
  return each.sources.find((source) => /^["']?(?:[a-z]+:\/\/|git@)/iu.test(source)) ?? null;
}

/** As `findFetch`, of a shell line. */
export function findFetcher(script: string): string | null {
  const words = script
    .split(/[\s;&|()<>{}"'`$,[\]\\]+/u)
    .map((word) => word.split("/").at(-1) ?? "");
  for (const [index, word] of words.entries()) {
    if (FETCHERS.has(word) || /^pip3?\.\d+$/u.test(word)) return word;
    const next = words[index + 1] ?? "";
    if (FETCHING_WORDS[word]?.has(next) === true) return `${word} ${next}`;
  }
  return null;
}

function scriptOf(command: RunCommand): string {
  if (command.form === "exec") return command.argv.join(" ");
  return command.form === "shell" ? command.script : command.content;
}
