/** The name under which agents ask for a scripted model. */
export const SCRIPTED_MODEL = "scripted-model";

/** Stands for a provider where a script answers. */
export const SCRIPTED_PROVIDER = "scripted";

const SCRIPTED_PREFIX = `${SCRIPTED_PROVIDER}/`;

/** Whether what `-m` names is a script and no model: such a run's scores are no model's. */
export function isScripted(model: string | null): boolean {
  return model?.startsWith(SCRIPTED_PREFIX) === true;
}

/** The file that `-m scripted/FILE` names, as it was typed; null for a model. */
export function scriptPathOf(model: string | null): string | null {
  return model !== null && isScripted(model) ? model.slice(SCRIPTED_PREFIX.length) : null;
}

/** How results call the model of a script: by its file's name, without a folder of this machine. */
export function scriptedModelName(fileName: string): string {
  return SCRIPTED_PREFIX + fileName;
}
