import type { ModelProtocol } from "../../../core/model/exchange.ts";
import { AnthropicAssembler } from "./assemble-anthropic.ts";
import { CompletionsAssembler } from "./assemble-completions.ts";
import { GeminiAssembler } from "./assemble-gemini.ts";
import { ResponsesAssembler } from "./assemble-responses.ts";
import type { KeepBudget } from "./kept-text.ts";
import type { ReplyAssembler } from "./reply-assembler.ts";

/** An assembler that keeps at most what the budget has. */
export function replyAssembler(protocol: ModelProtocol, budget: KeepBudget): ReplyAssembler {
  switch (protocol) {
    case "anthropic-messages":
      return new AnthropicAssembler(budget);
    case "openai-completions":
      return new CompletionsAssembler(budget);
    case "openai-responses":
      return new ResponsesAssembler(budget);
    case "gemini":
      return new GeminiAssembler(budget);
  }
}
