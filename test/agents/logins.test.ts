import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LOGIN_SERVICES } from "../../api/find-login.ts";
import { openRunWorld } from "../../api/open-run-world.ts";
import { runBenchmark } from "../../api/run-benchmark.ts";
import { stateDir } from "../../api/state-dir.ts";
import type { RunEvent } from "../../core/events/run-event.ts";
import { type LoginKind } from "../../core/model/agent-definition.ts";
import { RunSettings, type RunSettingsInput } from "../../core/model/settings.ts";
import { readModelJob } from "../e2e/model-run.ts";
import { scratchDir } from "../e2e/run-bench.ts";
import { contentOf, filesBelow, spellings } from "../e2e/secret-search.ts";
import type { ModelScriptInput } from "../fakes/model-server/model-script.ts";
import { startModelServer } from "../fakes/model-server/start-model-server.ts";
import { SOLVE, writeSceneTask } from "./trial-scene.ts";

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** Everything that the agent's own shell can read, laid into its workspace, which the run saves. */
const LOOT = `{ env; for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr '\\0' '\\n' < $f; done; find /tmp /etc /home /root /run /var/tmp -xdev -type f -size -200k -exec cat {} +; } > /app/loot 2>/dev/null; ${SOLVE}`;

/** Gives new tokens for each refresh token once, and refuses one that was used before. */
async function aRefresher(tokens: (count: number) => object, status = 200) {
  const asked: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      const isUsed = asked.some((each) => each["refresh_token"] === body["refresh_token"]);
      asked.push(body);
      response.writeHead(isUsed ? 400 : status, { "content-type": "application/json" });
      response.end(JSON.stringify(isUsed ? { error: "invalid_grant" } : tokens(asked.length)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closings.push(async () => server.close());
  const { port } = server.address() as AddressInfo;
  return { asked, url: `http://127.0.0.1:${String(port)}/oauth/token` };
}

function jwt(claims: object): string {
  return `eyJh.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2lnbmVkLXdpdGgtY2FyZQ`;
}

const ACCOUNT = { "https://api.openai.com/auth": { chatgpt_account_id: "account-7" } };

interface Kept {
  readonly file: string;
  /** The first login, which ends in a minute. */
  readonly login: object;
  readonly secrets: readonly string[];
  readonly renewed: (count: number) => object;
  readonly bearer: string;
  readonly headers: Readonly<Record<string, string>>;
}

const inAMinute = Date.now() + 60_000;
const [codexOld, codexNew] = [inAMinute, inAMinute + 3_600_000].map((ms) =>
  jwt({ exp: Math.floor(ms / 1000), ...ACCOUNT }),
) as [string, string];

const KEPT: Readonly<Record<LoginKind, Kept>> = {
  claude: {
    file: ".claude/.credentials.json",
    login: {
      claudeAiOauth: {
        accessToken: "sk-ant-oat01-first/Ab+cd=ef_gh",
        refreshToken: "sk-ant-ort01-first/Ij+kl=mn_op",
        expiresAt: inAMinute,
        scopes: ["user:inference"],
      },
    },
    secrets: [
      "sk-ant-oat01-first/Ab+cd=ef_gh",
      "sk-ant-ort01-first/Ij+kl=mn_op",
      "sk-ant-oat01-second/Qr+st=uv_wx",
      "sk-ant-ort01-second/Yz+12=34_56",
    ],
    renewed: (count) => ({
      access_token: `sk-ant-oat01-second/Qr+st=uv_wx${"x".repeat(count - 1)}`,
      refresh_token: `sk-ant-ort01-second/Yz+12=34_56${"x".repeat(count - 1)}`,
      expires_in: 3600,
    }),
    bearer: "sk-ant-oat01-second/Qr+st=uv_wx",
    headers: { "anthropic-beta": "oauth-2025-04-20" },
  },
  codex: {
    file: ".codex/auth.json",
    login: {
      OPENAI_API_KEY: null,
      tokens: { access_token: codexOld, refresh_token: "rt-first-0123456789" },
    },
    secrets: [codexOld, codexNew, "rt-first-0123456789", "rt-second-9876543210"],
    renewed: () => ({ access_token: codexNew, refresh_token: "rt-second-9876543210" }),
    bearer: codexNew,
    headers: { "chatgpt-account-id": "account-7" },
  },
};

interface Wish {
  readonly kind: LoginKind;
  readonly script?: Partial<ModelScriptInput>;
  readonly over?: Partial<RunSettingsInput>;
  readonly refreshStatus?: number;
}

/** A run of a person who has a login and no key, against providers of the test's own. */
async function runWithLogin(wish: Wish) {
  const { kind, script = {}, over = {} } = wish;
  const kept = KEPT[kind];
  const scratch = await scratchDir();
  closings.push(async () => await scratch[Symbol.asyncDispose]());
  const home = join(scratch.path, "home");
  await mkdir(join(home, kept.file, ".."), { recursive: true });
  await writeFile(join(home, kept.file), JSON.stringify(kept.login), { mode: 0o600 });
  await writeSceneTask(scratch.path);
  const turns = [{ shell: LOOT }, { text: "done" }];
  const server = await startModelServer({ turns, ...script });
  closings.push(async () => await server.close());
  const refresher = await aRefresher(kept.renewed, wish.refreshStatus);
  const settings = RunSettings.parse({
    tasksDir: join(scratch.path, "tasks"),
    jobsDir: join(scratch.path, "jobs"),
    agent: kind,
    model: kind === "claude" ? "anthropic/claude-haiku-4-5" : "openai/gpt-5.5",
    environment: "local",
    trials: 2,
    retryAttempts: 0,
    saveOutputs: true,
    ...over,
  });
  const events: RunEvent[] = [];
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    BENCHFLOW_STATE_DIR: stateDir(process.env),
  };
  const world = openRunWorld(settings, {
    env,
    onEvent: (event) => events.push(event),
    signal: new AbortController().signal,
  });
  const baseUrl = kind === "claude" ? server.origin : `${server.origin}/backend-api/codex`;
  const service = { ...LOGIN_SERVICES[kind], baseUrl, refreshUrl: refresher.url };
  const run = runBenchmark(settings, {
    ...world,
    services: { ...LOGIN_SERVICES, [kind]: service },
  });
  return { run, server, refresher, events, kept, home, dir: scratch.path };
}

test.for(["codex", "claude"] as const)(
  "%s works by its login, renewed once and outside, of which no sandbox and no record holds a token",
  async (kind) => {
    const { run, server, refresher, events, kept, home, dir } = await runWithLogin({ kind });
    const ended = await run;
    expect(ended.jobs.flatMap(({ tree }) => tree.trials.trials)).toHaveLength(2);

    // The provider got the login's new token and nothing of the trial's.
    const requests = server.modelRequests();
    expect(requests.length).toBeGreaterThanOrEqual(4);
    for (const { headers } of requests) {
      expect(headers.authorization).toBe(`Bearer ${kept.bearer}`);
      expect(headers["x-api-key"]).toBeUndefined();
      for (const [name, value] of Object.entries(kept.headers))
        expect(String(headers[name]).split(",")).toContain(value);
    }
    expect(refresher.asked).toHaveLength(1);
    const stored = await readFile(join(home, kept.file), "utf8");
    expect(stored).toContain(kept.bearer);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "key-route", keyName: expect.stringContaining("login") }),
    );

    const texts = kept.secrets.flatMap(spellings);
    const files = filesBelow(join(dir, "jobs"));
    const leaks = files.filter((file) => {
      const content = contentOf(file);
      return texts.some((text) => content.includes(text));
    });
    expect(leaks).toEqual([]);
    // The search reads what the agent took: its own token is there.
    const evidence = files.filter((file) => file.includes("/evidence/"));
    expect(evidence.some((file) => contentOf(file).includes("sk-benchflow-"))).toBe(true);

    for (const { jobDir } of ended.jobs) {
      const { trials } = await readModelJob(join(jobDir, ".."));
      for (const { result, rows } of trials) {
        expect(result).toMatchObject({
          outcome: { kind: "scored", reward: 1 },
          agent_result: { cost_usd: null, cost_status: "subscription", price_source: null },
          model_calls: { cost_micro_usd: null, cost_status: "subscription" },
        });
        expect(result.agent_result.total_tokens).toBeGreaterThan(0);
        expect(rows.every(({ cost_micro_usd: cost }) => cost === null)).toBe(true);
      }
    }
  },
);

test("a token that the provider refuses is renewed, and the call sent once more, unseen by the agent", async () => {
  const fault = { kind: "status", status: 401, on: "any", after: 1, times: 1 } as const;
  const { run, server, refresher, dir } = await runWithLogin({
    kind: "claude",
    script: { faults: [fault] },
    over: { trials: 1 },
  });
  await run;
  // At the start, since it ends soon, and for the refusal.
  expect(refresher.asked).toHaveLength(2);
  const refused = server.modelRequests().findIndex(({ status }) => status === 401);
  const [before, after] = server.modelRequests().slice(refused, refused + 2);
  expect(after?.headers.authorization).not.toBe(before?.headers.authorization);
  const { trials } = await readModelJob(join(dir, "jobs"));
  for (const { result, rows } of trials) {
    expect(result.outcome).toMatchObject({ kind: "scored", reward: 1 });
    expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 200));
  }
});

test("a login whose renewal is refused is told before anything is made", async () => {
  const { run, server, dir } = await runWithLogin({ kind: "codex", refreshStatus: 400 });
  await expect(run).rejects.toMatchObject({
    kind: "usage",
    message: expect.stringMatching(/^the ChatGPT login .*its renewal was refused$/u),
    next: "log in again with `codex login`",
  });
  expect(filesBelow(dir).filter((file) => file.includes("/jobs/"))).toEqual([]);
  expect(server.journal).toEqual([]);
});
