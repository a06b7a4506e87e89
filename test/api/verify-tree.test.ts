import { createHash } from "node:crypto";
import { appendFile, cp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { verifyTree } from "../../api/verify-tree.ts";
import { bench } from "../cli/run-bench.ts";
import { tempFolder } from "../stores/task-folders/temp-tasks.ts";
import { aReportTree, type ReportTree } from "./report-tree.ts";

let original: ReportTree | null = null;

/** A copy of one run that all tests share: they change it. */
async function freshTree(): Promise<ReportTree> {
  original ??= await aReportTree();
  const { root: from, jobDirs } = original;
  const root = join(await tempFolder(), "jobs");
  await cp(from, root, { recursive: true });
  return { root, jobDirs: jobDirs.map((dir) => join(root, relative(from, dir))) };
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(path, "utf8");
  const changed = change(text);
  if (changed === text) throw new Error(`nothing was changed in ${path}`);
  await writeFile(path, changed);
}

function firstJob({ jobDirs }: ReportTree): string {
  return jobDirs[0] ?? "";
}

async function firstDifference(path: string): Promise<string> {
  const { differences } = await verifyTree(path);
  const [first] = differences;
  return first === undefined ? "none" : `${first.file}: ${first.what}`;
}

test("a run as it was left is consistent, wherever it is moved or copied to", async () => {
  const { root, jobDirs } = await freshTree();
  expect(await verifyTree(root)).toMatchObject({
    consistent: true,
    differences: [],
    checked: { jobs: 2, attempts: 6, cards: 3 },
    root_sha256: expect.stringMatching(/^[0-9a-f]{64}$/u),
  });
  const moved = join(await tempFolder(), "published");
  await cp(root, moved, { recursive: true });
  expect(await firstDifference(moved)).toBe("none");
  const alone = join(await tempFolder(), basename(jobDirs[1] ?? ""));
  await rename(jobDirs[1] ?? "", alone);
  expect(await firstDifference(alone)).toBe("none");
  expect(await firstDifference(join(alone, "run-card.json"))).toBe("none");
});

describe("what was changed is named", () => {
  const job = "oracle/trial-01/2026-11-05__09-00-00";

  test("a tampered reward", async () => {
    const tree = await freshTree();
    const attempt = join(firstJob(tree), "gamma__00000001");
    await edit(join(attempt, "result.json"), (text) =>
      text.replaceAll('"reward": 0', '"reward": 1').replaceAll('"passed": false', '"passed": true'),
    );
    expect(await firstDifference(tree.root)).toMatch(
      /\/gamma__00000001: result\.json has \d+ bytes, sealed with \d+$/u,
    );
  });

  test("a tampered reward whose seal was made to fit", async () => {
    const tree = await freshTree();
    const attempt = join(firstJob(tree), "gamma__00000001");
    await edit(join(attempt, "result.json"), (text) =>
      text.replaceAll('"reward": 0', '"reward": 1').replaceAll('"passed": false', '"passed": true'),
    );
    const bytes = await readFile(join(attempt, "result.json"));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await edit(join(attempt, "seal.json"), (text) =>
      text.replace(
        /("path": "result\.json",\s+"size": )\d+(,\s+"sha256": ")[0-9a-f]+/u,
        `$1${String(bytes.length)}$2${sha256}`,
      ),
    );
    const { differences } = await verifyTree(tree.root);
    expect(differences[0]).toEqual({
      file: `${job}/summary.json`,
      what: "passed is 2, and 3 by its trials",
    });
    expect(differences.map(({ file }) => file)).toContain("run-card.json");
  });

  test("a swapped file", async () => {
    const tree = await freshTree();
    await writeFile(join(firstJob(tree), "gamma__00000001/verifier/reward.txt"), "1\n");
    expect(await firstDifference(tree.root)).toBe(
      `${job}/gamma__00000001: verifier/reward.txt has other bytes than sealed`,
    );
  });

  test("a missing trial", async () => {
    const tree = await freshTree();
    await rm(join(firstJob(tree), "gamma__00000001"), { recursive: true });
    const { differences } = await verifyTree(tree.root);
    expect(differences).toContainEqual({
      file: `${job}/gamma__00000001`,
      what: "is listed in run-card.json and its folder is gone",
    });
    expect(differences[0]).toEqual({
      file: `${job}/summary.json`,
      what: "total is 3, and 2 by its trials",
    });
  });

  test("a missing job", async () => {
    const tree = await freshTree();
    await rm(firstJob(tree), { recursive: true });
    expect(await firstDifference(tree.root)).toBe(`${job}: is listed in run-card.json and is gone`);
  });

  test("an edited card", async () => {
    const { root } = await freshTree();
    await edit(join(root, "run-card.json"), (text) => text.replace('"passed": 4', '"passed": 5'));
    expect(await firstDifference(root)).toBe(
      "run-card.json: groups[0].counts.passed is 5, and 4 by the files",
    );
    expect(await firstDifference(join(root, "run-card.json"))).toBe(
      "run-card.json: groups[0].counts.passed is 5, and 4 by the files",
    );
  });

  test("an edited report, summary, line of results, and settings", async () => {
    const tree = await freshTree();
    const [, second = ""] = tree.jobDirs;
    await edit(join(tree.root, "report.md"), (text) => text.replace("4 passed", "5 passed"));
    expect(await firstDifference(tree.root)).toBe("report.md: line 3 is not what the files give");
    await edit(join(second, "results.jsonl"), (text) => text.replace('"reward": 0', '"reward": 1'));
    expect(await firstDifference(second)).toBe("results.jsonl: line 3 is not that of its trial");
    await edit(join(second, "summary.json"), (text) => text.replace('"failed": 1', '"failed": 0'));
    expect(await firstDifference(second)).toBe("summary.json: failed is 0, and 1 by its trials");
    await edit(join(firstJob(tree), "evaluation.json"), (text) =>
      text.replace('"concurrency": 4', '"concurrency": 9'),
    );
    const { differences } = await verifyTree(firstJob(tree));
    expect(differences[0]?.file).toBe("run-card.json");
  });

  test.each([
    [
      '"environment": "local"',
      '"environment": "docker"',
      /^environment is "docker", and "local" by/u,
    ],
    [
      /"agent_idle_timeout_sec": [\d.]+/u,
      '"agent_idle_timeout_sec": 7',
      /^agent_idle_timeout_sec is 7, and /u,
    ],
  ])("a summary of other conditions than evaluation.json has: %s", async (from, to, says) => {
    const tree = await freshTree();
    await edit(join(firstJob(tree), "summary.json"), (text) => text.replace(from, to));
    const { differences } = await verifyTree(firstJob(tree));
    expect(differences[0]?.file).toBe("summary.json");
    expect(differences[0]?.what).toMatch(says);
  });

  test("a job's card whose job is not among those that it lists", async () => {
    const tree = await freshTree();
    const card = join(firstJob(tree), "run-card.json");
    await edit(card, (text) => text.replace('"path": "."', '"path": "elsewhere"'));
    expect((await verifyTree(card)).differences.map(({ what }) => what)).toEqual([
      "is listed in run-card.json and is gone",
      ...["alpha", "beta", "gamma"].map(() => "is listed in run-card.json and its folder is gone"),
      "is of a job that is not there",
    ]);
  });

  test("an edited matrix summary", async () => {
    const { root } = await freshTree();
    await edit(join(root, "matrix-summary.json"), (text) =>
      text.replace('"passed": 2', '"passed": 3'),
    );
    expect(await firstDifference(root)).toBe(
      "matrix-summary.json: passed of oracle's trial-01 is 3, and 2 by its trials",
    );
  });

  test("a card that is none, or leads out of its folder", async () => {
    const { root } = await freshTree();
    const card = join(root, "run-card.json");
    const text = await readFile(card, "utf8");
    await writeFile(card, text.replaceAll(job, "../elsewhere"));
    expect(await firstDifference(root)).toBe(
      "../elsewhere: is listed in run-card.json and lies outside of its folder",
    );
    await writeFile(card, text.replace('"scope": "run"', '"scope": "all"'));
    expect(await firstDifference(root)).toBe("run-card.json: is no run card: scope is wrong");
    await writeFile(card, "{");
    expect(await firstDifference(root)).toBe("run-card.json: is no run card");
  });

  test("a job's card or a matrix summary that was torn", async () => {
    const tree = await freshTree();
    await writeFile(join(firstJob(tree), "run-card.json"), "{");
    await writeFile(join(tree.root, "matrix-summary.json"), "{");
    const { differences } = await verifyTree(tree.root);
    expect(differences).toEqual([
      { file: "matrix-summary.json", what: "is no matrix summary" },
      { file: `${job}/run-card.json`, what: "is no run card" },
    ]);
    expect((await verifyTree(firstJob(tree))).differences).toEqual([
      { file: "run-card.json", what: "is no run card" },
    ]);
  });
});

test("files that no seal lists are noted, and change nothing", async () => {
  const tree = await freshTree();
  await appendFile(join(firstJob(tree), "alpha__00000001/notes.txt"), "mine\n");
  await symlink("/etc/passwd", join(firstJob(tree), "alpha__00000001/link"));
  const { consistent, notes } = await verifyTree(tree.root);
  expect(consistent).toBe(true);
  const attempt = "oracle/trial-01/2026-11-05__09-00-00/alpha__00000001";
  expect(notes).toEqual([`${attempt}/link is in no seal`, `${attempt}/notes.txt is in no seal`]);
});

test("the command prints the first difference first and exits with 1, or says what was consistent", async () => {
  const { root } = await freshTree();
  const good = await bench(dirname(root), "verify", root);
  expect(good.out).toMatch(
    /^Consistent: 2 job\(s\), 6 attempt\(s\), \d+ sealed file\(s\), 3 card\(s\), root sha256:[0-9a-f]{64}\.\n/u,
  );
  expect(good.code).toBe(0);
  await edit(join(root, "run-card.json"), (text) => text.replace('"failed": 2', '"failed": 1'));
  const bad = await bench(dirname(root), "verify", root);
  expect(bad.out).toMatch(
    /^First difference: run-card\.json: groups\[0\]\.counts\.failed is 1, and 2 /u,
  );
  expect(bad.code).toBe(1);
  const json = await bench(dirname(root), "verify", root, "--json");
  expect(JSON.parse(json.out)).toMatchObject({ kind: "benchflow.verification", consistent: false });
  await expect(bench(root, "verify", join(root, "nowhere"))).rejects.toThrow("there is no ");
  await expect(bench(root, "verify", await tempFolder())).rejects.toThrow("no job in ");
});
