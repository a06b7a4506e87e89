import { cp, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { RunCard } from "../../core/model/run-card.ts";
import { aReportTree, type ReportTree } from "../api/report-tree.ts";
import { tempFolder } from "../stores/task-folders/temp-tasks.ts";
import { bench } from "./run-bench.ts";

const BENCHFLOW = fileURLToPath(new URL("../fixtures/benchflow-0.7.12", import.meta.url));

let original: ReportTree | null = null;

async function freshTree(): Promise<ReportTree> {
  original ??= await aReportTree();
  const { root: from, jobDirs } = original;
  const root = join(await tempFolder(), "jobs");
  await cp(from, root, { recursive: true });
  return { root, jobDirs: jobDirs.map((dir) => join(root, relative(from, dir))) };
}

test("a run writes its report and card into every job and its jobs folder, and `bench report` prints the same", async () => {
  const { root, jobDirs } = await freshTree();
  for (const dir of [root, ...jobDirs]) {
    const printed = await bench(root, "report", dir);
    expect(printed).toEqual({
      out: await readFile(join(dir, "report.md"), "utf8"),
      err: "",
      code: 0,
    });
    const card = await bench(root, "report", dir, "--format", "json");
    expect(card.out).toBe(await readFile(join(dir, "run-card.json"), "utf8"));
  }
  const card = RunCard.parse(JSON.parse(await readFile(join(root, "run-card.json"), "utf8")));
  expect(card).toMatchObject({ scope: "run", name: "jobs", seals: { sealed: 6, unsealed: [] } });
  expect(card.groups[0]?.setting.tool).toBe("benchflow-cloud 0.1.0");
  expect(JSON.stringify(card)).not.toContain(dirname(root));
});

test("rules, formats, the write-up and a file to write to are chosen by flags", async () => {
  const { root } = await freshTree();
  const rc1 = await bench(root, "report", root, "--rules", "rc1");
  expect(rc1.out).toContain(
    "4 passed (67%, 95% interval 30% to 90%, counting trials as independent)",
  );
  expect((await bench(root, "report", root, "--format", "csv")).out.split("\r\n")).toHaveLength(8);
  expect((await bench(root, "report", root, "--write-up")).out).toContain(
    "4 of 6 trials passed: 67%.",
  );
  const path = join(root, "out.md");
  expect(await bench(root, "report", root, "--out", path)).toEqual({ out: "", err: "", code: 0 });
  expect(await readFile(path, "utf8")).toBe(await readFile(join(root, "report.md"), "utf8"));
  for (const [flag, value, says] of [
    ["--format", "html", "--format html is not built yet"],
    ["--format", "pdf", "there are md, json and csv"],
    ["--rules", "rc3", "there are rc1 and rc2"],
    ["--seed", "x", "is no whole number"],
    ["--seed", "", "is no whole number"],
    ["--seed", "1e3", "is no whole number"],
  ] as const) {
    await expect(bench(root, "report", root, flag, value)).rejects.toThrow(says);
  }
  for (const both of [
    ["--write-up", "--rules", "rc1"],
    ["--write-up", "--format", "csv"],
    ["--rules", "rc1", "--format", "json"],
  ]) {
    await expect(bench(root, "report", root, ...both)).rejects.toThrow("each is a text of its own");
  }
  await expect(bench(root, "report", join(root, "nowhere"))).rejects.toThrow("there is no folder");
});

test("trees by BenchFlow 0.7.12 are reported, and what they do not say is unknown", async () => {
  const { out, code } = await bench(BENCHFLOW, "report", BENCHFLOW);
  expect(code).toBe(0);
  expect(out).toContain("agent versions unknown");
  expect(out).toContain("tool unknown");
  expect(out).not.toMatch(/NaN|undefined|Infinity/u);
  const verified = await bench(BENCHFLOW, "verify", BENCHFLOW);
  expect(verified.out).toBe("Nothing could be checked: there is no seal and no run card.\n");
  expect(verified.code).toBe(1);
  expect(verified.err).toContain("has no seal");
  expect(verified.err).toContain("there is no run-card.json");
});
