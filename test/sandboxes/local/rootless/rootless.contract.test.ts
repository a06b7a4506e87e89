import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { sandboxContract } from "../../../../sandboxes/contract/sandbox-contract.ts";
import { type OrdinaryUser, makeOrdinaryUser } from "../../../setup/ordinary-user.ts";
import { bundleFor } from "./bundle-for.ts";

const Finding = z.object({
  promise: z.string(),
  skipped: z.string().nullable(),
  broken: z.string().nullable(),
});
type Finding = z.infer<typeof Finding>;

const Caps = z.looseObject({ limits: z.record(z.string(), z.boolean()) });

/** What one run of the contract says, as far as it has come. */
class ContractRun {
  readonly findings = new Map<string, Finding>();
  caps: z.infer<typeof Caps> | null = null;
  left: readonly string[] | null = null;
  complaint = "";
  readonly #child: ChildProcess;
  #hasEnded = false;
  #news: (() => void)[] = [];

  constructor(user: OrdinaryUser, program: string, cgroups: boolean) {
    const [first, ...words] = user.behind({ cgroups });
    const enter = ["unshare", "--user", "--map-auto", "--map-root-user", "--"];
    this.#child = spawn(first, [...words, ...enter, process.execPath, program], {
      env: user.env,
      cwd: user.home,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stderr?.on("data", (chunk: Buffer) => (this.complaint += chunk.toString()));
    if (this.#child.stdout === null) throw new Error("no stdout");
    createInterface(this.#child.stdout).on("line", (line) => {
      const said: unknown = JSON.parse(line);
      const finding = Finding.safeParse(said);
      if (finding.success) this.findings.set(finding.data.promise, finding.data);
      else if (this.caps === null) this.caps = z.object({ caps: Caps }).parse(said).caps;
      else this.left = z.object({ left: z.array(z.string()) }).parse(said).left;
      this.#tell();
    });
    this.#child.once("close", () => {
      this.#hasEnded = true;
      this.#tell();
    });
  }

  async untilSaid(isSaid: () => boolean): Promise<void> {
    while (!isSaid() && !this.#hasEnded)
      await new Promise<void>((resolve) => {
        this.#news.push(resolve);
      });
    if (!isSaid()) throw new Error(`the run ended before: ${this.complaint}`);
  }

  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "close");
  }

  #tell(): void {
    for (const resolve of this.#news.splice(0)) resolve();
  }
}

const LIMITS = ["cpu", "memory", "pids"];
const MODES = [
  { given: "with cgroups of their own", cgroups: true },
  { given: "without a cgroup", cgroups: false },
];

let user: OrdinaryUser;
const runs = new Map<boolean, ContractRun>();

beforeAll(() => {
  user = makeOrdinaryUser();
  const program = bundleFor(user, fileURLToPath(new URL("run-contract.ts", import.meta.url)));
  // Side by side: most of the contract waits.
  for (const { cgroups } of MODES) runs.set(cgroups, new ContractRun(user, program, cgroups));
});

afterAll(async () => {
  await Promise.all([...runs.values()].map(async (run) => await run.end()));
  user.remove();
});

describe.each(MODES)("the sandbox contract on local as an ordinary user $given", ({ cgroups }) => {
  let run: ContractRun;

  beforeAll(() => {
    const found = runs.get(cgroups);
    if (found === undefined) throw new Error("not started");
    run = found;
  });

  test("claims the limits that the user's cgroups hold, and no limit on the disk", async () => {
    await run.untilSaid(() => run.caps !== null);
    const held = Object.entries(run.caps?.limits ?? {}).filter(([, holds]) => holds);
    expect(held.map(([name]) => name).toSorted()).toEqual(cgroups ? LIMITS : []);
  });

  test.for(sandboxContract)("$promise", async ({ promise }, { skip }) => {
    await run.untilSaid(() => run.findings.has(promise));
    const finding = run.findings.get(promise);
    if (typeof finding?.skipped === "string") skip(finding.skipped);
    expect(finding?.broken ?? null).toBeNull();
  });

  test("nothing is left when every check has ended", async () => {
    await run.untilSaid(() => run.left !== null);
    expect(run.left).toEqual([]);
  });
});
