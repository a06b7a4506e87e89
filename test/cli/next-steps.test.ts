import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { sameCommandOnLocal } from "../../cli/same-command.ts";
import { GOOD, tempFolder, writeFiles } from "../stores/task-folders/temp-tasks.ts";
import { bench, benchWith } from "./run-bench.ts";

/** A folder with one task, and `bench` in it without any daemon. */
async function withoutDocker() {
  const root = await tempFolder();
  await writeFiles(join(root, "tasks/good"), GOOD);
  const env = {
    BENCHFLOW_STATE_DIR: join(root, "state"),
    DOCKER_HOST: `unix://${join(root, "no.sock")}`,
  };
  const run = async (...args: string[]) => await benchWith(env, root, ...args);
  return { root, tasks: join(root, "tasks"), run };
}

afterEach(() => vi.unstubAllEnvs());

test.each(["run", "check"])("without docker, %s names the same command on local", async (what) => {
  const { root, tasks, run } = await withoutDocker();
  const args =
    what === "run"
      ? ["run", tasks, "-a", "oracle", "-o", join(root, "my jobs"), "--env=docker"]
      : ["tasks", "check", "--env", "docker", "--controls", tasks];
  const next =
    what === "run"
      ? `bench run ${tasks} -a oracle -o '${root}/my jobs' --env local`
      : `bench tasks check --controls ${tasks} --env local`;
  vi.stubEnv("TMPDIR", root);
  await expect(run(...args)).rejects.toMatchObject({ kind: "unavailable", next });
  expect((await readdir(root)).filter((name) => name.startsWith("bench-"))).toEqual([]);
});

test("a word that a shell would read otherwise is quoted in the next step", async () => {
  expect(sameCommandOnLocal(["run", "it's", "--sandbox", "docker"])).toBe(
    "bench run 'it'\\''s' --env local",
  );
  const { err } = await bench(await tempFolder(), "tasks", "init", "bad name");
  expect(err).toContain("`bench tasks check --controls 'bad name'`");
});

test("a secret of the command line is not printed once more in the next step", () => {
  const typed = [
    "run",
    "t",
    "--agent-env",
    "MY_TOKEN=s3cr3t",
    "--agent-env=A_KEY=s3cr3t",
    "--agent-env=STYLE=a",
  ];
  expect(sameCommandOnLocal([...typed, "--agent-env", "MY_TOKEN"])).toBe(
    "bench run t --agent-env MY_TOKEN=VALUE --agent-env=A_KEY=VALUE --agent-env=STYLE=a --agent-env MY_TOKEN --env local",
  );
});

test.each([
  [["cloud", "destroy"], "`bench cloud --help` lists what there is"],
  [["cloud", "deploy", "--wrong-flag"], "`bench cloud deploy --help` lists what there is"],
  [["run", "tasks", "--wrong-flag"], "`bench run --help-all` lists every flag"],
  [["run", "tasks", "-j", "x"], "`bench run --help-all` lists every flag"],
  [["nope"], "`bench --help` lists what there is"],
])("%j points to the help of its own command", async (args, next) => {
  await expect(bench(".", ...args)).rejects.toMatchObject({ kind: "usage", next });
});

test("bench help and bench help run are the help; --help-all has the flags that help leaves out", async () => {
  const { out, code } = await bench(".", "help");
  expect([out, code]).toEqual([(await bench(".", "--help")).out, 0]);
  const short = await bench(".", "help", "run");
  expect(short).toEqual(await bench(".", "run", "--help"));
  expect(short.out).toContain("--help-all");
  expect(short.out).not.toContain("--max-rollouts");
  expect((await bench(".", "run", "--help-all")).out).toContain("--max-rollouts");
});
