import { expect, test } from "vitest";
import { TaskConfig } from "../../../core/model/task.ts";
import { isCredentialName } from "../../../core/tasks/credential-names.ts";
import { expandTaskEnv } from "../../../core/tasks/expand-task-env.ts";
import { aTask } from "../plan/plan-builders.ts";

function expand(env: Record<string, string>, host: Record<string, string>, passEnv: string[] = []) {
  const task = aTask("t", { config: TaskConfig.parse({ sandbox: { env } }) });
  const { task: expanded, ...rest } = expandTaskEnv(task, host, passEnv);
  return { env: expanded.config.sandbox.env, ...rest };
}

test("a passed variable fills a template, and its value is told for redaction", () => {
  expect(expand({ A: "${TOKEN}", B: "plain" }, { TOKEN: "s3" }, ["TOKEN"])).toEqual({
    env: { A: "s3", B: "plain" },
    hostValues: { TOKEN: "s3" },
    refusals: [],
    warnings: [],
  });
});

test("a variable that is not passed is refused by name, and its value stays here", () => {
  const result = expand({ A: "${TOKEN}" }, { TOKEN: "s3" });
  expect(result.refusals).toEqual([
    {
      path: "sandbox.env.A",
      reason:
        "asks for the host variable TOKEN, which --pass-env does not name (--pass-env TOKEN would)",
    },
  ]);
  expect(JSON.stringify(result)).not.toContain("s3");
});

test("a passed variable that is not set is refused", () => {
  expect(expand({ A: "${TOKEN}" }, {}, ["TOKEN"]).refusals).toEqual([
    {
      path: "sandbox.env.A",
      reason: "asks for the host variable TOKEN, which is not set on this machine",
    },
  ]);
  expect(expand({ A: "${toString}" }, {}, ["toString"]).refusals).toHaveLength(1);
});

test("a default is taken for what is unset, empty or not passed, the last with a warning", () => {
  expect(expand({ A: "${X:-d}" }, {}, ["X"]).env).toEqual({ A: "d" });
  expect(expand({ A: "${X:-d}" }, { X: "" }, ["X"]).env).toEqual({ A: "d" });
  expect(expand({ A: "${X:-d}" }, { X: "v" }, ["X"]).env).toEqual({ A: "v" });
  expect(expand({ A: "${X:-}" }, {}, []).env).toEqual({ A: "" });
  expect(expand({ A: "${X:-d}" }, { X: "v" }, [])).toMatchObject({
    env: { A: "d" },
    refusals: [],
    warnings: [
      "sandbox.env.A: the default is taken for X, which --pass-env does not name (--pass-env X would)",
    ],
  });
});

test.each(["a${X}", "${X}b", "$X", "${}", "${1}", "${X:+a}", "${X-a}", "$${X}"])(
  "%j is no template",
  (value) => {
    expect(expand({ A: value }, { X: "v" }, ["X"])).toMatchObject({
      env: { A: value },
      refusals: [],
    });
  },
);

test.each([
  "AWS_SECRET_ACCESS_KEY",
  "AWS_PROFILE",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "openrouter_api_key",
  "GITHUB_TOKEN",
  "E2B_API_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "DOCKER_HOST",
])("the credential %s never reaches a task, passed or not", (name) => {
  expect(isCredentialName(name)).toBe(true);
  const result = expand({ A: `\${${name}}`, B: `\${${name}:-d}` }, { [name]: "s3cret" }, [name]);
  expect(JSON.stringify(result)).not.toContain("s3cret");
  expect(result.refusals).toEqual([
    {
      path: "sandbox.env.A",
      reason: `asks for the host variable ${name}, which holds a credential and is never passed to a task`,
    },
  ]);
  expect(result.env["B"]).toBe("d");
});

test("ordinary variables are no credentials", () => {
  expect(["HOME", "AWSOME", "MY_API_KEY", "GEMINI_MODEL"].filter(isCredentialName)).toEqual([]);
});

test("every environment table of a task is filled", () => {
  const env = { A: "${X}" };
  const config = TaskConfig.parse({
    verifier: { env },
    oracle: { env },
    sandbox: {
      env,
      setupCommands: [{ command: "c", env }],
      mcpServers: [{ name: "m", transport: "stdio", command: "c", env, headers: env }],
    },
  });
  const { task } = expandTaskEnv(aTask("t", { config }), { X: "v" }, ["X"]);
  expect(JSON.stringify(task).match(/"A":"v"/gu)).toHaveLength(6);
  expect(JSON.stringify(task)).not.toContain("${X}");
});
