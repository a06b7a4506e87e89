import type { ServerResponse } from "node:http";

/** Resolves when the reader of a response wants more, or is gone. */
export function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.once("drain", settle);
    response.once("close", settle);
  });
}
