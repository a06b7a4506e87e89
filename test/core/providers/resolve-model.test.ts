import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { KEY_NAMES, PROVIDERS } from "../../../core/providers/providers.ts";
import { resolveModel } from "../../../core/providers/resolve-model.ts";

const KEY = "sk-secret-value-1234567890";

function refusal(name: string, variables: Record<string, string> = {}): BenchError {
  try {
    resolveModel(name, variables);
  } catch (thrown) {
    if (thrown instanceof BenchError) return thrown;
  }
  throw new Error("it was not refused");
}

describe("a model's provider", () => {
  test.each([
    ["xiaomi/mimo-v2.6-flash", "xiaomi", "mimo-v2.6-flash"],
    ["mimo-v2.6-flash", "xiaomi", "mimo-v2.6-flash"],
    ["glm-4.6", "glm", "glm-4.6"],
    ["glm5", "glm", "glm5"],
    ["openrouter/deepseek/deepseek-v4-flash", "openrouter", "deepseek/deepseek-v4-flash"],
    ["us-openai/gpt-5", "us-openai", "gpt-5"],
    ["claude-sonnet-4-6", "anthropic", "claude-sonnet-4-6"],
    ["o3-mini", "openai", "o3-mini"],
    ["Qwen/Qwen3", "qwen-dashscope", "Qwen/Qwen3"],
  ])("of %s is %s", (name, provider, model) => {
    const variables: Record<string, string> = {};
    for (const each of KEY_NAMES) variables[each] = KEY;
    for (const { baseUrlName } of PROVIDERS)
      if (baseUrlName !== null) variables[baseUrlName] = "https://own.example/v1";
    expect(resolveModel(name, variables)).toMatchObject({ provider, model, key: KEY });
  });

  test.each(["glmnext", "llama-4", "xiaomi/", "constructor/x", ""])(
    "%j has none, and the person is told how to name one",
    (name) => {
      const error = refusal(name);
      expect(error.kind).toBe("usage");
      expect(error.next).toMatch(/-m /u);
    },
  );

  test("a name that only one agent knows is refused before a provider is asked for it", () => {
    expect(refusal("sonnet").message).toContain("only Claude Code knows");
  });

  test("a provider that is not built is refused by name", () => {
    expect(refusal("aws-bedrock/x").message).toContain("aws-bedrock is not built yet");
  });
});

describe("a key", () => {
  test("that is missing or blank is asked for by its name", () => {
    for (const variables of [{}, { DEEPSEEK_API_KEY: " " }])
      expect(refusal("deepseek/x", variables).message).toBe(
        "DEEPSEEK_API_KEY required for model deepseek/x but not set",
      );
  });

  test("that no header can hold is refused without being shown", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (text) => {
        const key = `ab${text}\u0000cd`;
        const error = refusal("deepseek/x", { DEEPSEEK_API_KEY: key });
        expect(`${error.message} ${error.next}`).not.toContain(key);
        expect(error.message).toContain("DEEPSEEK_API_KEY");
      }),
    );
  });

  test("may have a second name, and the first that is set is taken", () => {
    const found = resolveModel("gemini/x", { GOOGLE_API_KEY: KEY });
    expect(found.keyName).toBe("GOOGLE_API_KEY");
    expect(resolveModel("gemini/x", { GOOGLE_API_KEY: KEY, GEMINI_API_KEY: "other" }).key).toBe(
      "other",
    );
  });

  test("of an own server may be left out", () => {
    const found = resolveModel("vllm/m", {
      BENCHFLOW_PROVIDER_BASE_URL: "http://127.0.0.1:8000/v1",
    });
    expect(found.key).toBe("-");
  });
});

describe("a base URL", () => {
  test("that a provider has not is asked for", () => {
    expect(refusal("xiaomi/m", { XIAOMI_API_KEY: KEY }).message).toBe(
      "XIAOMI_BASE_URL required for model xiaomi/m but not set",
    );
  });

  test("puts every dialect on the host that was named, and on no other", () => {
    const { endpoints } = resolveModel("xiaomi/m", {
      XIAOMI_API_KEY: KEY,
      XIAOMI_BASE_URL: "https://own.example:8443/v1",
    });
    expect(endpoints.map(({ protocol, baseUrl }) => [protocol, baseUrl])).toEqual([
      ["openai-completions", "https://own.example:8443/v1"],
      ["anthropic-messages", "https://own.example:8443/anthropic"],
    ]);
  });

  test("of Messages can be given apart", () => {
    const { endpoints } = resolveModel("deepseek/m", {
      DEEPSEEK_API_KEY: KEY,
      DEEPSEEK_ANTHROPIC_BASE_URL: "https://gateway.example/claude",
    });
    expect(endpoints.at(-1)?.baseUrl).toBe("https://gateway.example/claude");
    expect(endpoints[0].baseUrl).toBe("https://api.deepseek.com/v1");
  });

  test("of Messages that is none leaves the provider without that dialect", () => {
    const { endpoints } = resolveModel("deepseek/m", {
      DEEPSEEK_API_KEY: KEY,
      DEEPSEEK_ANTHROPIC_BASE_URL: "none",
    });
    expect(endpoints.map(({ protocol }) => protocol)).toEqual(["openai-completions"]);
  });

  test("with a password in it is refused without being shown", () => {
    const error = refusal("xiaomi/m", {
      XIAOMI_API_KEY: KEY,
      XIAOMI_BASE_URL: "https://me:hunter2@own.example/v1",
    });
    expect(error.message).toBe("XIAOMI_BASE_URL is no http or https URL");
  });

  test("that is the provider's own makes no route of one's own; another one does, without its port", () => {
    const variables = { DEEPSEEK_API_KEY: KEY };
    expect(resolveModel("deepseek/m", variables).ownRoute).toBeNull();
    const own = { ...variables, DEEPSEEK_BASE_URL: "http://127.0.0.1:4711/v1/" };
    expect(resolveModel("deepseek/m", own).ownRoute).toBe("127.0.0.1/v1");
    const messages = "DEEPSEEK_ANTHROPIC_BASE_URL";
    const apart = { ...variables, [messages]: "https://gateway.example:8443/claude" };
    expect(resolveModel("deepseek/m", apart).ownRoute).toBe("gateway.example/claude");
    expect(resolveModel("deepseek/m", { ...own, ...apart }).ownRoute).toContain("127.0.0.1/v1");
    const usual = { ...variables, [messages]: "https://api.deepseek.com/anthropic" };
    expect(resolveModel("deepseek/m", usual).ownRoute).toBeNull();
  });
});
