import type { ModelProtocol } from "../../core/model/exchange.ts";
import { parseJson } from "../../core/usage/json-view.ts";
import { SseParser } from "../../core/usage/sse-parser.ts";
import { stringSpan } from "./json-members.ts";

/** Where each protocol names the model, in a whole body and in a stream's events. */
const PATHS: Readonly<Record<ModelProtocol, readonly (readonly string[])[]>> = {
  "anthropic-messages": [["message", "model"], ["model"]],
  "openai-completions": [["model"]],
  "openai-responses": [["response", "model"], ["model"]],
  gemini: [["modelVersion"]],
};

/** A JSON text with the provider's name for the model replaced by the agent's; nothing else changes. */
export function renameModel(text: string, protocol: ModelProtocol, name: string): string {
  let renamed = text;
  for (const path of PATHS[protocol]) {
    const span = stringSpan(renamed, path);
    if (span !== null)
      renamed = renamed.slice(0, span.start) + JSON.stringify(name) + renamed.slice(span.end);
  }
  return renamed;
}

/** Thrown for an event too long to be held whole. */
export class RenameError extends Error {}

/**
 * The same for a stream: bytes in, bytes of whole events out. Comments are not passed on, but a piece
 * that held nothing else becomes one, so that the agent sees that the provider still works.
 */
export class ModelRenamer {
  readonly #parser: SseParser;
  readonly #protocol: ModelProtocol;
  readonly #name: string;

  constructor(protocol: ModelProtocol, name: string, maxEventBytes: number) {
    this.#parser = new SseParser(maxEventBytes);
    this.#protocol = protocol;
    this.#name = name;
  }

  push(chunk: Uint8Array): string {
    const text = this.#rendered(this.#parser.push(chunk));
    return text === "" ? ":\n\n" : text;
  }

  end(): string {
    return this.#rendered(this.#parser.end());
  }

  #rendered(events: ReturnType<SseParser["push"]>): string {
    let text = "";
    for (const { name, data, oversized } of events) {
      if (oversized) throw new RenameError("an event too long to be read");
      // `[DONE]` and the like are no JSON.
      const isNamed = data.includes("model") && parseJson(data) !== undefined;
      const renamed = isNamed ? renameModel(data, this.#protocol, this.#name) : data;
      const lines = renamed.split("\n").map((line) => `data: ${line}\n`);
      text += `${name === "" ? "" : `event: ${name}\n`}${lines.join("")}\n`;
    }
    return text;
  }
}
