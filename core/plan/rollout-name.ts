const SUFFIX = /^(.+)__[0-9a-f]{8}$/su;
const SUFFIX_BYTES = 10;
const MAX_FOLDER_NAME_BYTES = 255;

/** An attempt's folder: `<task>__<8 hex>` (spec 1.1). `hex8` comes from a random source. */
export function rolloutNameOf(taskName: string, hex8: string): string {
  return `${taskName}__${hex8}`;
}

/** The task of an attempt's folder; null when the folder is not named as one. */
export function taskNameOf(rolloutName: string): string | null {
  return SUFFIX.exec(rolloutName)?.[1] ?? null;
}

/** Why no attempt's folder can be made for a task of this name, else null. */
export function problemOfTaskName(taskName: string): string | null {
  const sizeBytes = new TextEncoder().encode(taskName).length;
  const maxBytes = MAX_FOLDER_NAME_BYTES - SUFFIX_BYTES;
  return sizeBytes > maxBytes
    ? `the name has ${sizeBytes} bytes; a trial's folder adds ${SUFFIX_BYTES}, so at most ${maxBytes} fit`
    : null;
}
