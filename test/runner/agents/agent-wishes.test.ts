import { describe, expect, test } from "vitest";
import { chooseAgent } from "../../../runner/agents/choose-agent.ts";
import { claude } from "../../../runner/agents/claude.ts";
import { overlay } from "../../../runner/agents/fill-definition.ts";
import { KNOWN_AGENTS } from "../../../runner/agents/known-agents.ts";

describe("what a person wishes of an agent", () => {
  test("is known by every agent of this edition as far as skills go, below its own home", () => {
    for (const { definition } of KNOWN_AGENTS) {
      expect(chooseAgent(definition.name, { hasSkills: true }).name).toBe(definition.name);
      expect(definition.skills?.dirs.every((dir) => dir.startsWith("."))).toBe(true);
    }
    expect(() => chooseAgent("acp:mine", { hasSkills: true })).toThrow(
      /looks for skills in no folder/u,
    );
    for (const control of ["oracle", "nop"])
      expect(chooseAgent(control, { hasSkills: true }).name).toBe(control);
  });

  test("never takes the place of what the agent is set up by", () => {
    for (const { definition } of KNOWN_AGENTS)
      for (const name of Object.keys(definition.env))
        expect(() => chooseAgent(definition.name, { env: { [name]: "x" } })).toThrow(
          `--agent-env ${name}: agent ${definition.name} is set up by it`,
        );
  });

  test("adds to a session what it needs and leaves the rest, such as the tools of a closed network", () => {
    const offline = claude.sessionMetaOffline ?? {};
    expect(overlay(offline, claude.skills?.sessionMeta ?? {})).toEqual({
      claudeCode: {
        options: { settingSources: ["user"], disallowedTools: ["WebFetch", "WebSearch"] },
      },
    });
    expect(overlay({ a: { b: 1 }, c: [1] }, { a: 2, c: [3] })).toEqual({ a: 2, c: [3] });
    expect(overlay({ a: 1 }, {})).toEqual({ a: 1 });
  });
});
