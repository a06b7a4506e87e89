import { expect, test } from "vitest";
import { nativeFiles, parsed, problemsOf } from "./task-builders.ts";

const withDocument = (yaml: string, over: Record<string, string> = {}) => {
  return nativeFiles("---\n---\ndo it", { "verifier/verifier.md": `---\n${yaml}\n---\n`, ...over });
};
const SCRIPT = "verifier: {strategies: {s: {type: script, command: ./test.sh}}}";

const policy = (text: string) => {
  const yaml = `${SCRIPT.slice(0, -1)}, outputs: {aggregate_policy: {${text}}}}`;
  return parsed(withDocument(yaml)).config.verifier.aggregatePolicy;
};

test("without verifier.md test.sh runs; with it the default strategy does", () => {
  expect(parsed(nativeFiles("---\n---\nx")).verifierCommand).toBe("./test.sh");
  const two =
    "strategies: {a: {type: script, command: ./test.sh}, b: {type: script, command: python3 b.py -x}}";
  expect(parsed(withDocument(`verifier: {${two}}`)).verifierCommand).toBe("./test.sh");
  const chosen = parsed(withDocument(`verifier: {default_strategy: b, ${two}}`));
  expect(chosen.verifierCommand).toBe("python3 b.py -x");
  expect(chosen.refusals).toEqual([]);
});

test.each(["llm-judge", "reward-kit", "agent-judge", "ors-episode"])(
  "a %s is refused with its reason",
  (type) => {
    const rest = "rubric: r.md, root: rewards/, role: judge, inputs: [a]";
    const task = parsed(withDocument(`verifier: {strategies: {s: {type: ${type}, ${rest}}}}`));
    expect(task.refusals).toEqual([
      {
        path: "verifier.strategies.s.type",
        reason: `verifiers of type ${type} are not run by this edition, only scripts are`,
      },
    ]);
  },
);

const outputs = (path: string) =>
  withDocument(
    `verifier: {strategies: {s: {type: script, command: ./test.sh}}, outputs: {reward_text: ${path}}}`,
  );

test("reward files elsewhere are refused, the usual places are not", () => {
  expect(parsed(outputs("/logs/verifier/reward.txt")).refusals).toEqual([]);
  expect(parsed(outputs("/tmp/r")).refusals).toEqual([
    {
      path: "verifier.outputs.reward_text",
      reason: 'the reward is read from /logs/verifier/reward.txt, not from "/tmp/r"',
    },
  ]);
});

test("the aggregate policy reaches the configuration", () => {
  expect(policy("field: reward, fallback: weighted-mean, weights: {a: 2}")).toEqual({
    method: "weighted_mean",
    weights: { a: 2 },
    threshold: 0.7,
  });
  expect(policy("method: threshold, threshold: 0.5")).toMatchObject({ threshold: 0.5 });
  expect(policy("")).toBeNull();
});

test.each([
  ["x: 1", "verifier/verifier.md: verifier:"],
  [
    "verifier: {strategies: {}}",
    "verifier.default_strategy: null is none of the declared strategies",
  ],
  [
    "verifier:\n  default_strategy: z\n  strategies: {s: {type: script, command: a}}",
    'verifier/verifier.md:3:3: verifier.default_strategy: "z" is none',
  ],
  ["verifier: {strategies: {s: {type: nope}}}", "verifier.strategies.s.type"],
  ["verifier: {strategies: {s: {type: script}}}", "verifier.strategies.s.command"],
  [
    "verifier: {strategies: {s: {type: script, command: /bin/sh}}}",
    "must begin with a relative path",
  ],
  [
    "verifier: {strategies: {s: {type: script, command: ../x.sh}}}",
    "must begin with a relative path",
  ],
  [
    "verifier: {strategies: {s: {type: script, command: ./a/../../x}}}",
    "must begin with a relative path",
  ],
  ["verifier: {strategies: {s: {type: reward-kit, root: ../r}}}", "must be a relative path"],
  [
    "verifier: {strategies: {s: {type: script, command: ./no.sh}}}",
    'verifier/no.sh: is not there, verifier.md runs "./no.sh"',
  ],
  [`${SCRIPT.slice(0, -1)}, outputs: {aggregate_policy: {field: other}}}`, 'can only be "reward"'],
  ["a: [", "not valid YAML"],
])("verifier.md %j is refused", (yaml, problem) => {
  expect(problemsOf(withDocument(yaml)).join("\n")).toContain(problem);
});
