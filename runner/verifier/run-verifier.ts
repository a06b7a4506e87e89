import { BenchError } from "../../core/errors.ts";
import type { VerifierError } from "../../core/model/outcome.ts";
import { verifierCrashed, verifierTimedOut } from "../../core/outcome/error-text.ts";
import type { AttemptFolder } from "../../core/ports/attempt-folder.ts";
import { type ByteStream, type Sandbox, SandboxError } from "../../core/ports/sandbox.ts";
import { firstFailedTest } from "../../core/results/first-failed-test.ts";
import { CACHE_VARIABLES } from "./caches-script.ts";
import { type HardenedSandbox, hardenSandbox, isRemarkable } from "./harden-sandbox.ts";
import { judgeVerdict } from "./judge-verdict.ts";
import { KeptOutput } from "./kept-output.ts";
import { packTests } from "./pack-tests.ts";
import { pythonPathOf } from "./python-path.ts";
import { readVerdict } from "./read-verdict.ts";
import { runTests, type TestRun } from "./run-tests.ts";
import type { VerifierTimeoutInfo, VerifyReport, VerifyRequest } from "./verify-request.ts";

/**
 * Verifies the agent's work (design 5 step 7, spec 6.6 and 11.4): hardens the sandbox, puts the
 * tests in, runs them under their limit, ends whatever they left running, then reads the verdict.
 * The caller has proven that the agent's processes are gone (`stopAgent`). Nothing here makes up a
 * reward: what is no valid verdict is an error with its category. Throws the signal's reason when
 * aborted, `SandboxError` of failure `lost` when the sandbox is gone, and what the store throws.
 */
export async function runVerifier(
  sandbox: Sandbox,
  request: VerifyRequest,
  folder: AttemptFolder,
): Promise<VerifyReport> {
  const output = new KeptOutput(await folder.append("verifier/test-stdout.txt"));
  try {
    return await new Verification(sandbox, request, folder).run(output);
  } finally {
    await output.end();
  }
}

const NOT_RUN: Omit<VerifyReport, "evidence"> = {
  failures: 1,
  exitCode: null,
  timeout: null,
  firstFailedTest: null,
  hardening: null,
  warnings: [],
};

class Verification {
  readonly #sandbox: Sandbox;
  readonly #request: VerifyRequest;
  readonly #folder: AttemptFolder;

  constructor(sandbox: Sandbox, request: VerifyRequest, folder: AttemptFolder) {
    this.#sandbox = sandbox;
    this.#request = request;
    this.#folder = folder;
  }

  async run(output: KeptOutput): Promise<VerifyReport> {
    const tests = await this.#packTests();
    if ("category" in tests) return { ...NOT_RUN, evidence: { kind: "error", error: tests } };
    const hardened = await setupStep(async () => await this.#harden(tests.stream));
    if ("category" in hardened) return { ...NOT_RUN, evidence: { kind: "error", error: hardened } };
    const report = { ...NOT_RUN, hardening: hardened.evidence };
    const run = await setupStep(async () => await this.#runTwiceIfWedged(hardened, output));
    if ("category" in run) return { ...report, evidence: { kind: "error", error: run } };
    const { exitCode, timeout, wedged } = run;
    const verdict = await this.#readVerdict(run, output);
    const failures = wedged + (verdict.evidence.kind === "error" ? 1 : 0);
    return { ...report, exitCode, timeout, failures, ...verdict };
  }

  /** A task whose tests cannot be packed has a fault of its own: no other attempt would differ. */
  async #packTests(): Promise<{ readonly stream: ByteStream } | VerifierError> {
    const { testsDir, taskDir } = this.#request;
    try {
      return { stream: await packTests({ dir: testsDir, taskDir }) };
    } catch (thrown) {
      if (!(thrown instanceof BenchError)) throw thrown;
      return verifierCrashed("verifier_failure", `Verifier setup failed: ${thrown.message}`);
    }
  }

  async #harden(tests: ByteStream): Promise<HardenedSandbox> {
    const { imageEnv, env, user, placement } = this.#request;
    const hardened = await hardenSandbox(this.#sandbox, {
      ...this.#request,
      verifierUser: user,
      testsDir: `/${placement}`,
      imagePath: imageEnv["PATH"] ?? "",
      pythonPath: pythonPathOf(env, imageEnv),
      caches: cachesOf({ ...imageEnv, ...env }),
    });
    if (isRemarkable(hardened.evidence))
      await this.#folder.write(
        "verifier/hardening.json",
        `${JSON.stringify(hardened.evidence, null, 2)}\n`,
      );
    await this.#sandbox.put(tests, `/${placement}`);
    return hardened;
  }

  /**
   * A time-out without one byte of output is taken as an exec that never started, and the tests run
   * once more (spec 2.5). What the first run may have left is ended and wiped before.
   */
  async #runTwiceIfWedged(
    hardened: HardenedSandbox,
    output: KeptOutput,
  ): Promise<TestRun & { readonly timeout: VerifierTimeoutInfo | null; readonly wedged: 0 | 1 }> {
    const { clock, timeoutMs, taskName } = this.#request;
    const startedMs = clock.monotonicMs();
    let run = await runTests(this.#sandbox, this.#request, { hardened, output });
    await this.#endLeftovers();
    const isWedged = run.timedOut && output.totalBytes === 0;
    if (isWedged) {
      await this.#wipeVerdict(hardened.uid);
      run = await runTests(this.#sandbox, this.#request, { hardened, output });
      await this.#endLeftovers();
    }
    const elapsedSec = Math.round((clock.monotonicMs() - startedMs) / 100) / 10;
    const timeout = {
      timeout_budget_sec: timeoutMs / 1000,
      elapsed_sec: elapsedSec,
      task_name: taskName,
    };
    return { ...run, timeout: run.timedOut ? timeout : null, wedged: isWedged ? 1 : 0 };
  }

  async #endLeftovers(): Promise<void> {
    const left = await this.#sandbox.killSince(this.#request.mark);
    if (left > 0)
      throw new SandboxError("start-failed", `${left} processes of the verifier cannot be ended`);
  }

  async #wipeVerdict(uid: number): Promise<void> {
    const wiped = await this.#sandbox.exec({
      argv: [
        "/bin/sh",
        "-c",
        'rm -rf /logs/verifier && mkdir -m 700 /logs/verifier && chown "$1" /logs/verifier',
        "sh",
        String(uid),
      ],
      uid: 0,
      cwd: "/",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      timeoutMs: 30_000,
      signal: this.#request.signal,
    });
    if (wiped.exitCode !== 0)
      throw new SandboxError("start-failed", "/logs/verifier cannot be made new");
  }

  async #readVerdict(
    run: TestRun,
    output: KeptOutput,
  ): Promise<Pick<VerifyReport, "evidence" | "warnings" | "firstFailedTest">> {
    const verdict = await setupStep(async () => await readVerdict(this.#sandbox, this.#folder));
    if ("category" in verdict)
      return { evidence: { kind: "error", error: verdict }, warnings: [], firstFailedTest: null };
    const { ctrf } = verdict;
    const failed = ctrf === null ? null : firstFailedTest(new TextDecoder().decode(ctrf));
    if (run.timedOut) {
      const error = verifierTimedOut(this.#request.timeoutMs / 1000);
      const { warnings } = verdict;
      return { evidence: { kind: "error", error }, warnings, firstFailedTest: failed };
    }
    const judged = judgeVerdict(verdict, this.#request, { run, output: output.sample() });
    for (const [path, bytes] of judged.files) await this.#folder.write(path, bytes);
    return { evidence: judged.evidence, warnings: judged.warnings, firstFailedTest: failed };
  }
}

function cachesOf(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(CACHE_VARIABLES.flatMap((name) => named(name, env[name])));
}

function named(name: string, folder: string | undefined): [string, string][] {
  return folder === undefined ? [] : [[name, folder]];
}

/** Runs a step whose failure leaves no verdict. A sandbox that is gone is not the verifier's matter. */
async function setupStep<T extends object>(step: () => Promise<T>): Promise<T | VerifierError> {
  try {
    return await step();
  } catch (thrown) {
    if (!(thrown instanceof SandboxError) || thrown.failure === "lost") throw thrown;
    return verifierCrashed("verifier_infra", `Verifier setup failed: ${thrown.message}`);
  }
}
