export type { Fault, ModelScriptInput } from "../../../core/model/model-script.ts";
