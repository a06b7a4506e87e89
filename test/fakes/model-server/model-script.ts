export { Fault, ModelScript, ScriptedUsage, Turn } from "../../../core/model/model-script.ts";
export type { ModelScriptInput } from "../../../core/model/model-script.ts";
