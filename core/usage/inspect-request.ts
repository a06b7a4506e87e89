import type { ModelProtocol } from "../model/exchange.ts";
import { inspectAnthropic } from "./inspect-anthropic.ts";
import { inspectCompletions } from "./inspect-completions.ts";
import { inspectGemini } from "./inspect-gemini.ts";
import { inspectResponses } from "./inspect-responses.ts";
import type { JsonRecord } from "./json-view.ts";
import type { RequestFacts } from "./request-facts.ts";

/** What a request's path says beside its body; Gemini alone uses it. */
export interface PathFacts {
  readonly model: string | null;
  readonly stream: boolean;
}

/** What the proxy needs to know of a request. Never throws, whatever the body holds. */
export function inspectRequest(
  protocol: ModelProtocol,
  body: JsonRecord,
  path: PathFacts,
): RequestFacts {
  switch (protocol) {
    case "anthropic-messages":
      return inspectAnthropic(body);
    case "openai-completions":
      return inspectCompletions(body);
    case "openai-responses":
      return inspectResponses(body);
    case "gemini":
      return inspectGemini(body, { model: path.model ?? "", stream: path.stream });
  }
}
