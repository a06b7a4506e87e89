import { expect, test } from "vitest";
import { problemOfVariable } from "../../../core/plan/agent-env.ts";
import { isCredentialName } from "../../../core/tasks/credential-names.ts";

test.for([
  "CODEX_API_KEY",
  "COPILOT_GITHUB_TOKEN",
  "CLAUDE_API_KEY",
  "GH_ENTERPRISE_TOKEN",
  "GITLAB_TOKEN",
  "NPM_TOKEN",
  "VERTEX_API_KEY",
  "OPENCODE_API_KEY",
  "DAYTONA_API_KEY",
  "CLOUDFLARE_API_TOKEN",
  "openai_api_key",
])("%s is a key that no task and no agent is given", (name) => {
  expect(isCredentialName(name)).toBe(true);
  expect(problemOfVariable(name, "value")).toContain("stay out of sandboxes");
});

test.for(["MY_GATEWAY_API_KEY", "NPM_CONFIG_REGISTRY", "GITHUB_SHA", "CODEX_LOG", "TASK_TOKEN"])(
  "%s is nobody's that is known",
  (name) => {
    expect(isCredentialName(name)).toBe(false);
  },
);
