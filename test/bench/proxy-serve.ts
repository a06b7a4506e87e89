/**
 * Our proxy in a process of its own, for bench/proxy.ts: `node proxy-serve.mjs <origin of the provider>`.
 * Sends its address and token to its parent, then serves until it is killed.
 */
import { setFlagsFromString } from "node:v8";
import { systemClock } from "../../host/system-clock.ts";
import { createHttpUpstream } from "../../runner/proxy/http-upstream.ts";
import { startModelProxy } from "../../runner/proxy/model-proxy.ts";

// As `bench run` sets them (cli/run-process.ts).
setFlagsFromString("--semi-space-growth-factor=1");
setFlagsFromString("--heap-growing-percent=20");

const [, , baseUrl = ""] = process.argv;

const proxy = await startModelProxy({
  listen: { kind: "tcp" },
  upstreams: [
    createHttpUpstream({
      provider: "bench",
      protocol: "anthropic-messages",
      baseUrl,
      credential: async () => ({ header: "x-api-key", value: "provider-key-1234" }),
    }),
  ],
  models: { clientModel: "m", upstreamModel: "m", aliases: [] },
  modelLimits: { contextTokens: null, maxOutputTokens: null },
  maxOutputTokens: null,
  prices: { find: () => null },
  gate: { reserve: async () => ({ kind: "lease", lease: { id: "0" } }), settle: async () => {} },
  // What is recorded is made into text, as a trial's log does; only the disk is left out.
  sink: { write: (row, exchange) => void JSON.stringify([row, exchange]) },
  clock: systemClock,
  secrets: ["provider-key-1234"],
});
process.send?.({ origin: proxy.address, token: proxy.token });
