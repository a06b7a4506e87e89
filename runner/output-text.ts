import type { Completed } from "../core/ports/sandbox.ts";

/** Bytes of a command's output that an attempt keeps: what agents and verifiers print is unbounded. */
export const MAX_OUTPUT_BYTES = 2 * 1024 * 1024;

/**
 * The stdout of a command that ran with `maxOutputBytes: MAX_OUTPUT_BYTES`, with a mark where bytes
 * were dropped between its first and last half (failures C-59).
 */
export function keptOutput(completed: Completed): Uint8Array {
  if (completed.droppedBytes === 0) return completed.stdout;
  const half = MAX_OUTPUT_BYTES / 2;
  const mark = `\n[... ${String(completed.droppedBytes)} bytes dropped ...]\n`;
  return Buffer.concat([
    completed.stdout.subarray(0, half),
    Buffer.from(mark),
    completed.stdout.subarray(half),
  ]);
}

/** The last `chars` characters of bytes that may not be UTF-8. */
export function lastText(bytes: Uint8Array, chars: number): string {
  return new TextDecoder().decode(bytes).slice(-chars);
}
