import { ModelScript, type ModelScriptInput } from "../../../core/model/model-script.ts";
import type { ScriptRequest } from "../../../runner/scripted-model/script-request.ts";
import { serveScript } from "../../../runner/scripted-model/serve-script.ts";

export interface ModelServer {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly origin: string;
  readonly journal: readonly ScriptRequest[];
  /** The requests for a model's answer, in order. */
  modelRequests(): ScriptRequest[];
  close(): Promise<void>;
}

/** The product's scripted model as a provider of the tests: every request is kept as it came. */
export async function startModelServer(input: ModelScriptInput): Promise<ModelServer> {
  const journal: ScriptRequest[] = [];
  const server = await serveScript(ModelScript.parse(input), {
    onRequest: (request) => journal.push(request),
  });
  return {
    ...server,
    journal,
    modelRequests: () => journal.filter(({ protocol }) => protocol !== null),
  };
}
