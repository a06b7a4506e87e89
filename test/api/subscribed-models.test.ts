import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { refusedKey } from "../../api/refused-key.ts";
import { resolveRunModels, type RunModels } from "../../api/run-models.ts";
import type { RunSettingsInput } from "../../core/model/settings.ts";
import { NO_KEY } from "../../core/providers/own-providers.ts";
import { chooseAgent } from "../../runner/agents/choose-agent.ts";
import { someSettings } from "../core/plan/plan-builders.ts";
import { FakeClock } from "../fakes/fake-clock.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "bench-home-"));
});
afterEach(async () => {
  await rm(home, { recursive: true });
});

const CLOCK = new FakeClock();

async function writeClaude(over: object = {}): Promise<void> {
  await mkdir(join(home, ".claude"));
  const expiresAt = CLOCK.now().getTime() + 3_600_000;
  const claudeAiOauth = { accessToken: "a-1", refreshToken: "r-1", expiresAt, scopes: [], ...over };
  await writeFile(join(home, ".claude/.credentials.json"), JSON.stringify({ claudeAiOauth }));
}

async function resolve(
  over: Partial<RunSettingsInput> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<RunModels | null> {
  const settings = someSettings({ agent: "claude", model: "anthropic/claude-haiku-4-5", ...over });
  const modelVariables = { HOME: home, ...variables };
  return await resolveRunModels(settings, chooseAgent(settings.agent), {
    clock: CLOCK,
    modelVariables,
  });
}

test("a login stands for a key that is not set, at its own address, and is another measurement", async () => {
  await writeClaude();
  const found = await resolve();
  expect(found).toMatchObject({
    route: "api.anthropic.com by subscription",
    resolved: { key: "", keyName: "the Claude login" },
    endpoints: [{ protocol: "anthropic-messages", baseUrl: "https://api.anthropic.com" }],
  });
  expect((await found?.login?.credential())?.value).toBe("Bearer a-1");
  const query = { provider: "anthropic", model: "claude-haiku-4-5", at: CLOCK.now() };
  expect(found?.prices.find(query)).toMatchObject({ source: "subscription", perCall: 0 });
  expect(found?.prices.find(query)?.contextTokens).toBeGreaterThan(0);
});

test("a token of a variable goes before the file", async () => {
  await writeClaude();
  const found = await resolve({}, { CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-x" });
  expect((await found?.login?.credential())?.value).toBe("Bearer sk-ant-oat01-x");
  await expect(resolve({}, { CLAUDE_CODE_OAUTH_TOKEN: "a b" })).rejects.toThrow(
    "CLAUDE_CODE_OAUTH_TOKEN holds characters that no token has",
  );
});

test("a key that is set goes before a login", async () => {
  await writeClaude();
  const found = await resolve({}, { ANTHROPIC_API_KEY: "sk-ant-key" });
  expect(found).toMatchObject({ login: null, resolved: { key: "sk-ant-key" } });
});

test("without a key and without a login the error names both ways", async () => {
  await expect(resolve()).rejects.toMatchObject({
    message: "ANTHROPIC_API_KEY required for model anthropic/claude-haiku-4-5 but not set",
    next: "export ANTHROPIC_API_KEY=…, or define it in .env, or log in with `claude /login`",
  });
});

test.for([
  ["another address", {}, { ANTHROPIC_BASE_URL: "https://gateway.example" }],
  ["another agent", { agent: "pi" }, {}],
  ["another provider", { model: "openai/gpt-5.5" }, {}],
] as const)("a login is never used for %s", async ([, over, variables]) => {
  await writeClaude();
  await expect(resolve(over, variables)).rejects.toThrow(/_API_KEY required/u);
});

test("a login that has ended and cannot be renewed is told with what to type", async () => {
  await writeClaude({ refreshToken: null, expiresAt: CLOCK.now().getTime() - 1 });
  await expect(resolve()).rejects.toMatchObject({
    kind: "usage",
    message: expect.stringMatching(/^the Claude login ended at .+ and cannot be renewed$/u),
    next: "log in again with `claude /login`, or export a key",
  });
});

test("dollars and limits that a subscription cannot keep are refused beside it", async () => {
  await writeClaude();
  await expect(resolve({ maxCostUsd: 5 })).rejects.toThrow(
    "--max-cost-usd: the Claude login reports no dollars",
  );
  await expect(resolve({ maxCostPerTrialUsd: 5 })).rejects.toThrow(/^--max-cost-per-trial: /u);
  expect(await resolve({ maxTokens: 5, maxOutputTokens: 1000 })).not.toBeNull();
  await mkdir(join(home, ".codex"));
  const auth = { tokens: { access_token: "opaque", refresh_token: "r" } };
  await writeFile(join(home, ".codex/auth.json"), JSON.stringify(auth));
  const codex = { agent: "codex", model: "openai/gpt-5.5" };
  expect(await resolve(codex)).toMatchObject({
    route: "chatgpt.com/backend-api/codex by subscription",
  });
  await expect(resolve({ ...codex, maxOutputTokens: 1000 })).rejects.toThrow(
    "--max-output-tokens is not taken beside the ChatGPT login",
  );
});

test("a login that the provider does not take is told as a login, and a missing key as none", async () => {
  await writeClaude();
  const found = await resolve();
  if (found === null) throw new Error("no models");
  expect(refusedKey(found)).toMatchObject({
    message:
      "api.anthropic.com refused the Claude login (HTTP 401) before any request succeeded: the run is stopped",
    next: "log in again with `claude /login`, then run the same command again",
  });
  const keyless = { ...found, login: null, resolved: { ...found.resolved, keyName: NO_KEY } };
  expect(refusedKey(keyless).message).toContain("refused a request without a key");
});
