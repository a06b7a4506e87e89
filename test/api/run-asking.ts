import { onTestFinished } from "vitest";
import { openRunSpend } from "../../api/run-spend.ts";
import { planBenchmark, readPlanInput } from "../../api/plan-benchmark.ts";
import { resolveRunModels } from "../../api/run-models.ts";
import { runTrials } from "../../api/run-trials.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { systemClock } from "../../host/system-clock.ts";
import { type Agent, NO_USAGE } from "../../runner/agents/agent.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import type { Fault } from "../fakes/model-server/model-script.ts";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import type { Scene } from "./run-scene.ts";

/** Asks its model so often, whatever it says. */
export const asking = (
  calls: number,
  onText: (text: string) => unknown = () => undefined,
): Agent => ({
  name: "script-models",
  runsAs: "agent-user",
  needsSolution: false,
  models: { protocols: ["openai-completions"], aliases: [] },
  mounts: [],
  run: async ({ models }) => {
    if (models === null) throw new Error("no models");
    for (let call = 0; call < calls; call += 1) {
      const response = await fetch(`${models.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${models.token}` },
        body: JSON.stringify({
          model: models.model,
          max_tokens: 50,
          messages: [{ role: "user", content: "x".repeat(3000) }],
          tools: [{ type: "function", function: { name: "bash", parameters: { type: "object" } } }],
        }),
      });
      onText(await response.text());
    }
    const end = { kind: "completed" } as const;
    return {
      agentName: "asker",
      end,
      toolCalls: 1,
      skillInvocations: 0,
      prompts: [],
      usage: NO_USAGE,
    };
  },
});

/** Runs the tasks of a scene with an agent that asks a model server, which may fail. */
export async function runAsking(
  scene: Scene,
  wish: {
    readonly faults?: Fault[];
    readonly over?: Partial<RunSettingsInput>;
    readonly calls?: number;
    readonly agent?: Agent;
  },
) {
  const server = await startModelServer({ turns: [{ text: "hi" }], faults: wish.faults ?? [] });
  onTestFinished(async () => await server.close());
  const world = {
    ...scene.world,
    clock: systemClock,
    modelVariables: {
      XIAOMI_API_KEY: "sk-secret-0123456789",
      XIAOMI_BASE_URL: `${server.origin}/v1`,
    },
  };
  const over = { agent: "script-models", model: "xiaomi/scripted-model", retryAttempts: 0 };
  const settings = someSettings({ tasksDir: scene.tasksDir, ...over, ...wish.over });
  const agent = wish.agent ?? asking(wish.calls ?? 1);
  const models = await resolveRunModels(settings, agent, world);
  const input = await readPlanInput(settings, world, { models, agent });
  const plan = planBenchmark(input, { ...scene.backend.caps, uidSeparation: true });
  const [job] = plan.jobs;
  if (job === undefined) throw new Error("a plan without a job");
  const folder = await scene.store.openJob({ ...job, mode: "new", evaluation: "{}\n" });
  const spend = await openRunSpend({ plan, models, world });
  const deps = { ...world, backend: scene.backend, spend };
  await runTrials({ plan, job, folder, agent, deps, notStarted: new Set() });
  const budget = await spend?.budget({ cancelled: [], notStarted: [] });
  const outcomes = scene.events.flatMap((event) =>
    event.type === "trial-ended" && event.retryInMs === null ? [event.record.outcome] : [],
  );
  return { server, budget, outcomes, refusal: spend.refusal() };
}
