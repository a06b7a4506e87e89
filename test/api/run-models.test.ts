import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BenchError } from "../../core/errors.ts";
import type { ModelProtocol } from "../../core/model/exchange.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { resolveRunModels, type RunModels } from "../../api/run-models.ts";
import { chooseAgent } from "../../runner/agents/choose-agent.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { FakeClock } from "../fakes/fake-clock.ts";

const VARIABLES = {
  XIAOMI_API_KEY: "sk-secret-0123456789",
  XIAOMI_BASE_URL: "https://models.example/v1",
  ANTHROPIC_API_KEY: "sk-ant-0123456789",
};

async function resolve(
  over: Partial<RunSettingsInput>,
  variables: Record<string, string> = VARIABLES,
): Promise<RunModels | null> {
  const settings = someSettings({ agent: "script-models", ...over });
  const deps = { clock: new FakeClock(), modelVariables: variables };
  return await resolveRunModels(settings, chooseAgent(settings.agent), deps);
}

async function refusal(
  over: Partial<RunSettingsInput>,
  variables = VARIABLES as Record<string, string>,
): Promise<BenchError> {
  try {
    await resolve(over, variables);
  } catch (thrown) {
    if (thrown instanceof BenchError) return thrown;
    throw thrown;
  }
  throw new Error("it was not refused");
}

async function ofAgent(
  protocols: readonly [ModelProtocol, ...ModelProtocol[]],
  model: string,
  variables: Record<string, string> = VARIABLES,
): Promise<RunModels | null> {
  const agent = { name: "g", models: { protocols, aliases: [] } };
  const deps = { clock: new FakeClock(), modelVariables: variables };
  return await resolveRunModels(someSettings({ model }), agent, deps);
}

describe("a run's models", () => {
  let dir: string;
  const priceFile = async (text: string): Promise<string> => {
    const path = join(dir, "prices.json");
    await writeFile(path, text);
    return path;
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "bench-models-"));
  });
  afterAll(async () => {
    await rm(dir, { recursive: true });
  });

  test("are none for an agent that calls none, whatever -m says", async () => {
    expect(await resolve({ agent: "oracle", model: "nobody/knows" })).toBeNull();
  });

  test("a dollar cap needs a known price, and a cap in tokens does not (C-38)", async () => {
    const model = "xiaomi/mimo-v2.6-flash";
    for (const cap of [{ maxCostUsd: 0 }, { maxCostPerTrialUsd: 1 }]) {
      const error = await refusal({ model, ...cap });
      expect(error.kind).toBe("usage");
      expect(error.message).toMatch(/^--max-cost-(?:usd|per-trial): model .* has no known price$/u);
      expect(error.next).toContain("--prices");
    }
    expect(await resolve({ model, maxTokens: 5 })).not.toBeNull();
    const prices = await priceFile(
      JSON.stringify({
        version: 1,
        source: "s",
        date: "2026-11-30",
        prices: { [model]: { input: 1, output: 2 } },
      }),
    );
    expect(await resolve({ model, maxCostUsd: 1, prices })).not.toBeNull();
    expect(await resolve({ model: "anthropic/claude-sonnet-4-6", maxCostUsd: 1 })).not.toBeNull();
  });

  test("that lack key, base URL and price say so at once, each with what to do about it", async () => {
    const over = { model: "xiaomi/mimo-v2.6-flash" };
    const url = { XIAOMI_BASE_URL: "https://models.example/v1" };
    const both = "XIAOMI_API_KEY and XIAOMI_BASE_URL required for model xiaomi/mimo-v2.6-flash";
    expect((await refusal(over, {})).message).toBe(`${both} but not set`);
    const all = await refusal({ ...over, maxCostUsd: 20 }, {});
    expect(all.message).toBe(
      `${both} but not set; --max-cost-usd: model xiaomi/mimo-v2.6-flash has no known price`,
    );
    expect(all.next).toMatch(
      /^export XIAOMI_API_KEY=… and XIAOMI_BASE_URL=.*; give its price with/u,
    );
    expect((await refusal({ ...over, maxCostUsd: 20 }, url)).message).toMatch(
      /^XIAOMI_API_KEY required .*; --max-cost-usd: .* no known price$/u,
    );
    expect((await refusal({ model: "openai/gpt-5", maxCostUsd: 20 }, {})).message).toBe(
      "OPENAI_API_KEY required for model openai/gpt-5 but not set",
    );
  });

  test("a price file that cannot be read is refused beside a control too", async () => {
    const error = await refusal({ agent: "nop", prices: join(dir, "nosuch.json") });
    expect(error.message).toBe("--prices nosuch.json cannot be read (ENOENT)");
  });

  test("a price file that cannot be read, or is none, is told by its name alone", async () => {
    const model = "xiaomi/mimo-v2.6-flash";
    for (const prices of [join(dir, "missing.json"), await priceFile("no json")]) {
      const error = await refusal({ model, prices });
      expect(error.kind).toBe("config");
      expect(error.message).not.toContain(dir);
    }
  });

  test("a provider file brings a provider with its price, and --prices goes before it", async () => {
    const file = {
      version: 1,
      providers: [
        {
          prefix: "mine",
          key_env: "MINE_API_KEY",
          endpoints: [{ protocol: "openai-completions", base_url: "https://llm.example/v1" }],
          models: { m: { input: 1, output: 2 } },
          price_source: "https://llm.example",
          price_date: "2026-11-30",
        },
      ],
    };
    const providerFile = join(dir, "providers.json");
    await writeFile(providerFile, JSON.stringify(file));
    const asked = { model: "mine/m", providerFile, maxCostUsd: 1 };
    const found = await resolve(asked, { MINE_API_KEY: "k-1" });
    expect(found).toMatchObject({ route: "llm.example/v1", resolved: { keyName: "MINE_API_KEY" } });
    const query = { provider: "mine", model: "m", at: new Date(0) };
    expect(found?.prices.find(query)?.source).toBe("file:providers.json");
    const text = {
      version: 1,
      source: "mine",
      date: "2026-11-30",
      prices: { "mine/m": { input: 3, output: 3 } },
    };
    const prices = await priceFile(JSON.stringify(text));
    const other = await resolve({ ...asked, prices }, { MINE_API_KEY: "k-1" });
    expect(other?.prices.find(query)?.source).toBe("file:prices.json");
    const missing = await refusal({ ...asked, providerFile: join(dir, "none.yaml") });
    expect(missing.message).toBe("--provider-file none.yaml: it cannot be read (ENOENT)");
    expect((await refusal({ model: "mine/m" })).message).toContain("no provider is known");
    for (const over of [{ passEnv: ["MINE_API_KEY"] }, { agentEnv: { MINE_API_KEY: "k-1" } }])
      expect((await refusal({ ...asked, ...over })).message).toBe(
        "MINE_API_KEY is a provider's key, which no task and no agent gets",
      );
  });

  test("the agent's best dialect that the provider serves comes first", async () => {
    const found = await resolve({ model: "xiaomi/mimo-v2.6-flash" });
    expect(found?.endpoints.map(({ protocol }) => protocol)).toEqual([
      "openai-completions",
      "anthropic-messages",
    ]);
  });

  test("an agent of a dialect that the provider lacks is translated into the provider's best", async () => {
    const found = await ofAgent(["gemini"], "xiaomi/mimo-v2.6-flash");
    expect(found?.endpoints).toMatchObject([
      { agentProtocol: "gemini", protocol: "openai-completions" },
    ]);
    const codex = await ofAgent(["openai-responses"], "anthropic/claude-haiku-4-5");
    expect(codex?.endpoints).toMatchObject([
      { agentProtocol: "openai-responses", protocol: "anthropic-messages" },
    ]);
  });

  test("a translation is another measurement than the provider's own dialect", async () => {
    const model = "deepseek/deepseek-v4-flash";
    const key = { DEEPSEEK_API_KEY: "sk-secret-0123456789" };
    expect((await ofAgent(["anthropic-messages"], model, key))?.route).toBeNull();
    const none = { ...key, DEEPSEEK_ANTHROPIC_BASE_URL: "none" };
    const found = await ofAgent(["anthropic-messages"], model, none);
    expect(found?.endpoints[0]?.protocol).toBe("openai-completions");
    expect(found?.route).toBe("deepseek in openai-completions");
  });

  test("a model of OpenAI's is asked in Responses where the agent speaks neither of its dialects", async () => {
    const key = { OPENAI_API_KEY: "sk-secret-0123456789" };
    const claude = await ofAgent(["anthropic-messages"], "openai/gpt-5.5", key);
    expect(claude?.endpoints).toMatchObject([{ protocol: "openai-responses" }]);
    const chat = await ofAgent(["openai-completions"], "openai/gpt-5.5", key);
    expect(chat?.endpoints).toMatchObject([{ protocol: "openai-completions" }]);
  });
});
