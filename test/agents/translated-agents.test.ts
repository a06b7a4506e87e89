import { afterAll, beforeAll, expect, test } from "vitest";
import { listOf, recordOf } from "../../core/usage/json-view.ts";
import { openBackend, type OpenBackend, printed, runAgent } from "./agent-scene.ts";

const PAIRS = [
  { agent: "claude", provider: "openai-completions" },
  { agent: "codex", provider: "openai-completions" },
  { agent: "gemini", provider: "openai-completions" },
  { agent: "codex", provider: "anthropic-messages" },
  { agent: "claude", provider: "gemini" },
  { agent: "claude", provider: "openai-responses" },
  { agent: "pi", provider: "anthropic-messages" },
] as const;

const SCRIPT = {
  turns: [
    {
      reasoning: "I should write it, and look at what fails.",
      text: "I will write it.",
      shell: ["echo 'Hello, world!' > /app/hello.txt", "echo told; exit 3"],
    },
    { reasoning: "Now I look.", shell: "cat /app/hello.txt" },
    { text: "The file is written." },
  ],
};
/** By provider: where its history stands, and what of it holds the thoughts of earlier turns. */
const KEPT = {
  "openai-completions": { history: "messages", thought: "reasoning_content" },
  "anthropic-messages": { history: "messages", thought: "signature" },
  "openai-responses": { history: "input", thought: "encrypted_content" },
  gemini: { history: "contents", thought: "thoughtSignature" },
} as const;

let open: OpenBackend;

beforeAll(async () => {
  open = await openBackend("local");
});

afterAll(async () => {
  await open.close();
});

// Two calls at once, a tool that fails, and thoughts that the provider wants back with the calls.
test.for(PAIRS)("$agent solves a task on a provider of $provider", async ({ agent, provider }) => {
  const ran = await runAgent(open, { agent, provider, prompt: "Write it.", script: SCRIPT });
  const { report, events, rows, server, sandbox } = ran;
  expect(report).toMatchObject({ end: { kind: "completed" }, toolCalls: 3 });
  expect(await printed(sandbox, "cat /app/hello.txt")).toBe("Hello, world!");
  expect(events.at(-1)).toMatchObject({ type: "agent_message", text: "The file is written." });
  const thoughts = events.filter(({ type }) => type === "agent_thought");
  expect(thoughts.map((event) => ("text" in event ? event.text : ""))).toEqual([
    expect.stringContaining("I should write it"),
    expect.stringContaining("Now I look."),
  ]);
  expect(rows.map(({ purpose, status, usage_status: usage }) => [purpose, status, usage])).toEqual(
    SCRIPT.turns.map(() => ["main", 200, "complete"]),
  );
  for (const { translation, tokens } of rows) {
    expect(translation?.to).toBe(provider);
    expect(tokens).toMatchObject({ output: 40, cacheRead: 600 });
  }
  const [, , last] = server.modelRequests();
  const { history, thought } = KEPT[provider];
  const sent = listOf(recordOf(last?.body)[history]).map((entry) => JSON.stringify(entry));
  expect(sent.filter((entry) => entry.includes(thought))).toHaveLength(2);
  // What the tool that failed said came back to the model.
  expect(sent.some((entry) => entry.includes("told") && !entry.includes("exit 3"))).toBe(true);
});
