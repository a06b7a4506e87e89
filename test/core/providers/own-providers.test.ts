import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ProviderFile } from "../../../core/model/provider-file.ts";
import { ownProviders } from "../../../core/providers/own-providers.ts";
import { findModel, resolveModel } from "../../../core/providers/resolve-model.ts";
import { readYaml } from "../../../core/tasks/read-yaml.ts";

const GATEWAY = {
  prefix: "my-gateway",
  key_env: "MY_GATEWAY_API_KEY",
  endpoints: [
    { protocol: "openai-completions", base_url: "https://llm.example.com:8443/v1" },
    {
      protocol: "anthropic-messages",
      base_url: "https://claude.example.com/messages",
      key_header: "x-api-key",
    },
  ],
  models: { "small-1": { input: 0.1, output: 0.4, context_tokens: 64_000 }, "free-1": null },
  price_source: "https://example.com/contract",
  price_date: "2026-11-30",
};

function read(over: object) {
  const file = ProviderFile.parse({ version: 1, providers: [{ ...GATEWAY, ...over }] });
  return ownProviders(file, "providers.yaml");
}

const VARIABLES = { MY_GATEWAY_API_KEY: "key-1", OPENAI_API_KEY: "sk-openai" };

describe("a provider of one's own", () => {
  test("is reached at its own addresses with its own key, and its route is in the digest", () => {
    const { providers } = read({});
    const found = resolveModel("my-gateway/small-1", VARIABLES, providers);
    expect(found).toMatchObject({
      provider: "my-gateway",
      model: "small-1",
      key: "key-1",
      keyName: "MY_GATEWAY_API_KEY",
      ownRoute: "llm.example.com/v1, claude.example.com/messages",
      endpoints: [
        { protocol: "openai-completions", baseUrl: "https://llm.example.com:8443/v1" },
        {
          protocol: "anthropic-messages",
          baseUrl: "https://claude.example.com/messages",
          keyHeader: "x-api-key",
        },
      ],
    });
  });

  test("gets no address from the environment", () => {
    const { providers } = read({});
    const variables = {
      ...VARIABLES,
      MY_GATEWAY_BASE_URL: "https://other.example",
      MY_GATEWAY_ANTHROPIC_BASE_URL: "https://other.example",
    };
    const found = resolveModel("my-gateway/small-1", variables, providers);
    expect(JSON.stringify(found)).not.toContain("other.example");
  });

  test("has the prices of its file, with their source, and none where it has none", () => {
    const { prices } = read({});
    const at = new Date(0);
    expect(prices.find({ provider: "my-gateway", model: "small-1", at })).toMatchObject({
      source: "file:providers.yaml",
      date: "2026-11-30",
      urls: ["https://example.com/contract"],
      contextTokens: 64_000,
      now: { base: { input: 100_000_000, output: 400_000_000 } },
    });
    expect(prices.find({ provider: "my-gateway", model: "free-1", at })).toBeNull();
    expect(prices.find({ provider: "openai", model: "gpt-5.5", at })).toBeNull();
  });

  test("that lists models refuses others, and one that lists none takes any", () => {
    const { providers } = read({});
    expect(() => findModel("my-gateway/smal-1", VARIABLES, providers)).toThrow(
      "model my-gateway/smal-1: provider my-gateway of --provider-file lists no such model",
    );
    const any = read({ models: {} }).providers;
    expect(findModel("my-gateway/any/thing", VARIABLES, any).model).toBe("any/thing");
  });

  test("whose key is not set says which, and that .env does not hold it", () => {
    const { providers } = read({});
    expect(findModel("my-gateway/small-1", {}, providers).missing).toMatchObject({
      message: "MY_GATEWAY_API_KEY required for model my-gateway/small-1 but not set",
      next: "export MY_GATEWAY_API_KEY=… (it is not read from .env)",
    });
    const keyless = read({ key_env: null }).providers;
    expect(resolveModel("my-gateway/small-1", {}, keyless)).toMatchObject({ key: "-" });
  });

  test("serves this machine without TLS, and no other one", () => {
    for (const base_url of [
      "http://127.0.0.1:8000/v1",
      "http://localhost:8000",
      "http://[::1]:1/v1",
    ])
      expect(() =>
        read({ endpoints: [{ protocol: "openai-completions", base_url }] }),
      ).not.toThrow();
  });

  test.for([
    ["without TLS", "http://llm.example"],
    ["that only begins as this machine's", "http://127.0.0.1.evil.example"],
    ["with a password", "https://a:b@llm.example"],
    ["that is a file", "file:///etc/passwd"],
  ] as const)("with an address %s is refused", ([, base_url]) => {
    expect(() => read({ endpoints: [{ protocol: "gemini", base_url }] })).toThrow(/no https URL/u);
  });

  test.for([
    [
      "a dialect that nobody knows",
      { endpoints: [{ protocol: "grpc", base_url: "https://x.example" }] },
      /protocol/u,
    ],
    [
      "one dialect twice",
      { endpoints: [GATEWAY.endpoints[0], GATEWAY.endpoints[0]] },
      /stands twice/u,
    ],
    ["no dialect", { endpoints: [] }, /endpoints/u],
    ["another provider's key", { key_env: "ANTHROPIC_API_KEY" }, /key of another service/u],
    ["a key of a cloud", { key_env: "AWS_SESSION_TOKEN" }, /key of another service/u],
    ["a key of a code host", { key_env: "GITHUB_TOKEN" }, /key of another service/u],
    ["a variable that is no key", { key_env: "HOME" }, /no name of a key/u],
    ["a prefix of ours", { prefix: "openai" }, /prefix openai is taken/u],
    ["the prefix of scripts", { prefix: "scripted" }, /prefix scripted is taken/u],
    ["a prefix with a slash", { prefix: "a/b" }, /no prefix/u],
    ["prices that nobody vouches for", { price_source: null }, /prices need price_source/u],
    ["a misspelt price", { models: { m: { input: 1, output: 1, cache: 1 } } }, /models\.m|cache/u],
    ["a price below nothing", { models: { m: { input: -1, output: 1 } } }, /Too small/u],
    ["a key of its own", { key: "sk-secret" }, /key/u],
  ] as const)("with %s is refused", ([, over, message]) => {
    expect(() => read(over)).toThrow(message);
  });

  test("stands once", () => {
    const file = ProviderFile.parse({ version: 1, providers: [GATEWAY, GATEWAY] });
    expect(() => ownProviders(file, "p.json")).toThrow(
      "--provider-file p.json: prefix my-gateway is taken",
    );
  });
});

function shapeOf(text: string) {
  const found = readYaml(text, { file: "providers.yaml", linesBefore: 0 });
  return ProviderFile.safeParse(found.kind === "read" ? found.value : null);
}

test("the example in docs/proxy.md is a file of providers, and a date without quotes is told how to stand", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/proxy.md"), "utf8");
  const example = /```yaml\n(version: 1\nproviders:[^`]*)```/u.exec(page)?.[1] ?? "";
  expect(shapeOf(example)).toMatchObject({ success: true });
  const bare = example.replace(/price_date: "([^"]*)"/u, "price_date: $1");
  expect(bare).not.toBe(example);
  expect(shapeOf(bare).error?.message).toContain("in YAML it stands in quotes");
});
