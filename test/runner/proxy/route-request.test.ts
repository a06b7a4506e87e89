import * as fc from "fast-check";
import { expect, test } from "vitest";
import { routeRequest } from "../../../runner/proxy/route-request.ts";

function kind(method: string, target: string): string {
  const { route } = routeRequest(method, target);
  return route.kind === "model" ? route.protocol : route.kind;
}

test.each([
  ["POST", "/v1/messages?beta=true", "anthropic-messages"],
  ["POST", "/v1/chat/completions", "openai-completions"],
  ["POST", "/chat/completions", "openai-completions"],
  ["POST", "/v1/responses", "openai-responses"],
  ["POST", "/v1beta/models/m:streamGenerateContent?alt=sse", "gemini"],
  ["POST", "/v1beta/models/m:generateContent", "gemini"],
  ["POST", "/v1/messages/count_tokens?beta=true", "count-tokens"],
  ["POST", "/v1beta/models/m:countTokens", "count-tokens"],
  ["GET", "/v1/models", "models"],
  ["GET", "/v1beta/models/m", "models"],
  ["HEAD", "/", "health"],
  ["GET", "/", "health"],
])("%s %s is %s", (method, target, expected) => {
  expect(kind(method, target)).toBe(expected);
});

test.each([
  ["GET", "/v1/messages"],
  ["PUT", "/v1/messages"],
  ["POST", "/v1/embeddings"],
  ["POST", "/v1/messages/"],
  ["POST", "/v1/messages/../embeddings"],
  ["POST", "/v1/./messages"],
  ["POST", "/v1/%2e%2e/v1/messages"],
  ["POST", "//evil.example/v1/messages"],
  ["POST", "/v1//messages"],
  ["POST", "http://api.anthropic.com/v1/messages"],
  ["POST", "api.anthropic.com:443"],
  ["POST", "/v1/messages#x"],
  ["POST", "/v1\\messages"],
  ["POST", "/v1/messages%00"],
  ["POST", "/v1beta/models/a%2:generateContent"],
  ["POST", "/v1beta/models/a/b:generateContent"],
  ["POST", "/v1beta/models/m:batchGenerateContent"],
  ["POST", `/v1/messages?${"x".repeat(3000)}`],
  ["POST", "/v1/messages?a=\u00e9"],
  ["DELETE", "/v1/models/m"],
  ["OPTIONS", "*"],
  ["GET", ""],
])("%s %s is refused", (method, target) => {
  expect(kind(method, target)).toBe("refused");
});

test("only the parameters that providers know pass, the key never", () => {
  const { route, keyParameter } = routeRequest(
    "POST",
    "/v1beta/models/m:streamGenerateContent?alt=sse&key=secret&redirect=http://x",
  );
  expect(keyParameter).toBe("secret");
  expect(route.kind === "model" ? [...route.query] : null).toEqual([["alt", "sse"]]);
});

test("a model's name in the path is decoded once", () => {
  const { route } = routeRequest("POST", "/v1beta/models/xiaomi%2Fmimo:generateContent");
  expect(route).toMatchObject({ kind: "model", model: "xiaomi/mimo", stream: false });
});

test("no request line throws, and what is served is one of the known paths", () => {
  const part = fc.constantFrom(
    "/",
    "v1",
    "..",
    "%2e",
    "models",
    ":generateContent",
    "?",
    "messages",
    "\\",
    "%",
    "#",
    "é",
    "http://",
  );
  fc.assert(
    fc.property(fc.constantFrom("GET", "POST", "HEAD"), fc.array(part), (method, parts) => {
      const { route, path } = routeRequest(method, parts.join(""));
      const served = route.kind === "model" ? path : "/messages";
      expect(served).toMatch(
        /^(?:\/v1(?:beta|alpha)?)?\/(?:messages|chat\/completions|responses|models\/[^/:]+:\w+)$/u,
      );
    }),
    { numRuns: 1000 },
  );
});
