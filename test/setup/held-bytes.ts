import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of buffers that something still refers to; what only waits to be collected does not count. */
export async function heldBufferBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  let fewest = Number.POSITIVE_INFINITY;
  // The memory of dead buffers is given back by another thread, some time after the collection.
  for (let round = 0; round < 8; round += 1) {
    runInNewContext("gc()");
    await setImmediate();
    fewest = Math.min(fewest, process.memoryUsage().arrayBuffers);
  }
  return fewest;
}
