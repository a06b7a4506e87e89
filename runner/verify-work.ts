import { join } from "node:path";
import { givenNetworks } from "../core/plan/phase-networks.ts";
import type { AttemptState } from "./attempt-state.ts";
import { summarizeHardening } from "./verifier/summarize-hardening.ts";
import { runVerifier } from "./verifier/run-verifier.ts";
import type { FinishedWork } from "./work-on-task.ts";

/** Phase verify: only now do tests enter the sandbox. The verdict is evidence; the outcome is decided later. */
export async function verifyWork(state: AttemptState, work: FinishedWork): Promise<void> {
  const { spec, deps, signal, image } = state;
  const { task } = spec;
  const { verifier, sandbox: sandboxConfig } = task.config;
  state.phases.enter("verify");
  const { verifier: policy } = givenNetworks(task.config, deps.backend.caps);
  if (policy !== work.network) await work.sandbox.network(policy);
  state.networks.verifier = policy;
  const report = await runVerifier(
    work.sandbox,
    {
      taskName: task.name,
      instruction: task.prompt,
      taskDir: task.dir,
      testsDir: join(task.dir, task.verifierDir),
      placement: task.verifierDir,
      command: task.verifierCommand,
      timeoutMs: spec.verifierTimeoutSec * 1000,
      user: verifier.user,
      env: { ...sandboxConfig.env, ...verifier.env },
      imageEnv: image?.env ?? {},
      rewardRange: verifier.rewardRange,
      lenientRewards: spec.lenientRewards,
      aggregatePolicy: verifier.aggregatePolicy,
      cleanupConftests: verifier.cleanupConftests,
      pytestPlugins: verifier.pytestPlugins,
      workdir: work.workdir,
      agentUid: work.agentUid,
      agentHome: work.agentHome,
      agentWasRoot: work.agentWasRoot,
      baseline: work.baseline,
      mark: work.mark,
      shownDir: `${deps.rolloutDir}/verifier`,
      clock: deps.clock,
      signal,
    },
    deps.folder,
  );
  state.verifier = report.evidence;
  state.verifierTimeout = report.timeout;
  state.firstFailedTest = report.firstFailedTest;
  state.hardening =
    report.hardening === null ? null : summarizeHardening(report.hardening, work.agentWasRoot);
  state.verifierFailures = report.failures;
  state.notes.push(...report.warnings);
}
