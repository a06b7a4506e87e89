import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  agentEnvMarks,
  HIDDEN_VALUE,
  hideSecretValues,
  problemOfVariable,
  secretValues,
  shownVariables,
} from "../../../core/plan/agent-env.ts";
import { sha256 } from "./plan-builders.ts";

const ENV = {
  STYLE: "terse",
  SEARCH_TOKEN: "s3cr3t-0123456789",
  MAX_THINKING_TOKENS: "0",
  DATABASE: "postgres://me:hunter2@db/x",
};

const marks = (env: Record<string, string>): string => JSON.stringify(agentEnvMarks(env, sha256));

describe("variables of an agent", () => {
  test("are written where they are no secrets, by the contract's names and by their look", () => {
    expect(shownVariables(ENV)).toEqual({ STYLE: "terse" });
    expect(hideSecretValues(ENV)).toEqual({
      STYLE: "terse",
      SEARCH_TOKEN: HIDDEN_VALUE,
      MAX_THINKING_TOKENS: HIDDEN_VALUE,
      DATABASE: HIDDEN_VALUE,
    });
    expect(shownVariables(hideSecretValues(ENV))).toEqual({ STYLE: "terse" });
    expect(secretValues(ENV)).toEqual([ENV.DATABASE, "0", ENV.SEARCH_TOKEN]);
  });

  test("of which one has another value are another measurement, also where the value is secret", () => {
    expect(marks(ENV)).toBe(marks({ ...ENV }));
    for (const name of Object.keys(ENV))
      expect(marks({ ...ENV, [name]: "other" })).not.toBe(marks(ENV));
    expect(marks(ENV)).not.toContain("s3cr3t");
    expect(marks(ENV)).not.toContain("hunter2");
  });

  test("leave no secret value in what stands for them, whatever it is", () => {
    const secret = fc.string({ minLength: 13, maxLength: 60 });
    fc.assert(
      fc.property(secret, (value) => {
        const env = { MY_SECRET: value };
        const written = [agentEnvMarks(env, sha256), hideSecretValues(env), shownVariables(env)];
        for (const each of written) expect(Object.values(each)).not.toContain(value);
      }),
    );
  });

  test.for([
    ["PATH", "x", /started/u],
    ["HOME", "x", /started/u],
    ["LD_PRELOAD", "x", /started/u],
    ["NODE_OPTIONS", "--require x", /started/u],
    ["BASH_ENV", "x", /started/u],
    ["XDG_CONFIG_HOME", "x", /started/u],
    ["CLAUDE_CONFIG_DIR", "x", /started/u],
    ["OPENCODE_CONFIG_CONTENT", "{}", /started/u],
    ["BENCHFLOW_PROVIDER_MODEL", "x", /started/u],
    ["https_proxy", "http://x", /past its model proxy/u],
    ["NO_PROXY", "*", /past its model proxy/u],
    ["XIAOMI_BASE_URL", "http://x", /past its model proxy/u],
    ["CLAUDE_CODE_USE_BEDROCK", "1", /past its model proxy/u],
    ["ANTHROPIC_API_KEY", "x", /stay out of sandboxes/u],
    ["AWS_SECRET_ACCESS_KEY", "x", /stay out of sandboxes/u],
    ["GEMINI_API_KEY", "x", /stay out of sandboxes/u],
    ["A-B", "x", /no name/u],
    ["", "x", /no name/u],
    ["STYLE", "a\0b", /null byte/u],
  ] as const)(
    "that would break the walls or the way to the model are refused: %s",
    ([name, value, why]) => {
      expect(problemOfVariable(name, value)).toMatch(why);
    },
  );

  test("of other names are given", () => {
    for (const [name, value] of Object.entries(ENV))
      expect(problemOfVariable(name, value)).toBeNull();
  });
});
