import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVIDER_KEY } from "../runner/proxy/proxy-fixture.ts";
import { openBackend, type OpenBackend, printed, runAgent } from "./agent-scene.ts";

const AGENTS = [
  { agent: "claude", side: 1, tells: true },
  { agent: "codex", side: 0, tells: true },
  { agent: "opencode", side: 0, tells: true },
  // These two tell no input of their tools over the protocol.
  { agent: "gemini", side: 0, tells: false },
  { agent: "pi", side: 0, tells: false },
  { agent: "qwen", side: 0, tells: true },
  { agent: "copilot", side: 0, tells: true },
] as const;

const SOLUTION = {
  turns: [
    { text: "I will write it.", shell: "echo 'Hello, world!' > /app/hello.txt; id -u" },
    { text: "The file is written." },
  ],
};
const PROMPT = "Write the line `Hello, world!` into the file `/app/hello.txt`.";

describe.for(["local", "docker"] as const)("in a sandbox of %s", (kind) => {
  let open: OpenBackend;

  beforeAll(async () => {
    open = await openBackend(kind);
  });

  afterAll(async () => {
    await open.close();
  });

  test.for(AGENTS)(
    "$agent solves a task with its own tools, and ends",
    async ({ agent, side, tells }) => {
      const ran = await runAgent(open, { agent, prompt: PROMPT, script: SOLUTION });
      const { report, events, rows, server, sandbox } = ran;
      expect(report).toMatchObject({
        end: { kind: "completed" },
        toolCalls: 1,
        prompts: [PROMPT],
      });
      expect(await printed(sandbox, "cat /app/hello.txt; stat -c %U /app/hello.txt")).toBe(
        "Hello, world!\nagent",
      );
      expect(events.map(({ type }) => type)).toEqual([
        "user_message",
        "agent_message",
        "tool_call",
        "agent_message",
      ]);
      const told = tells ? { raw_input: { command: SOLUTION.turns[0]?.shell } } : {};
      expect(events[2]).toMatchObject({ kind: "execute", status: "completed", ...told });
      const main = rows.filter(({ purpose }) => purpose === "main");
      expect(main.map(({ status, model_served: model }) => [status, model])).toEqual([
        [200, "mimo-v2.6-flash"],
        [200, "mimo-v2.6-flash"],
      ]);
      expect(rows.length - main.length).toBe(side);
      expect(server.modelRequests()).toHaveLength(2 + side);
    },
  );
});

// The same wherever it runs: once is enough for what costs a minute.
describe("in a sandbox of local", () => {
  let open: OpenBackend;

  beforeAll(async () => {
    open = await openBackend("local");
  });

  afterAll(async () => {
    await open.close();
  });

  test.for(AGENTS)(
    "$agent leaves the provider's key nowhere, and no token on the record",
    async ({ agent }) => {
      const script = {
        turns: [{ shell: "env; cat /proc/self/environ; ls -la ~ /" }, { text: "Seen." }],
      };
      const { files, sandbox, rows, token } = await runAgent(open, {
        agent,
        prompt: "Look.",
        script,
      });
      expect(rows.length).toBeGreaterThan(0);
      const paths = files.paths();
      expect(paths.some((path) => path.startsWith("agent/"))).toBe(true);
      for (const path of paths) {
        expect(files.text(path)).not.toContain(PROVIDER_KEY);
        expect(files.text(path)).not.toContain(token);
      }
      const found = await printed(
        sandbox,
        `grep -rlF '${PROVIDER_KEY}' /home /tmp /app /root; true`,
      );
      expect(found).toBe("");
    },
  );

  test.for(AGENTS)(
    "$agent with a tool that does not end is ended at its limit",
    async ({ agent }) => {
      const script = { turns: [{ shell: "timeout 300 tail -f /dev/null" }] };
      const wish = { agent, prompt: "Wait.", script, wallSec: 15 };
      const { report, events, sandbox } = await runAgent(open, wish);
      expect(report.end).toMatchObject({ kind: "limit", limit: "wall-clock" });
      expect(events.at(-1)).toMatchObject({ type: "agent_timeout" });
      const left = await printed(
        sandbox,
        "for each in /proc/[0-9]*; do tr '\\0' ' ' <$each/cmdline; echo; done | grep -c '^tail -f /dev/null'; true",
      );
      expect(left).toBe("0");
    },
  );
});
