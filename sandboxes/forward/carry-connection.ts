import { createConnection, type Socket } from "node:net";

/**
 * Carries one connection to a unix socket, both ways, until either side breaks or both have ended. The
 * end of one direction leaves the other one open, and a slow reader holds its writer back. `inward`
 * must not end itself when its other side does (`allowHalfOpen`).
 */
export function carryConnection(inward: Socket, socketPath: string): Socket {
  const outward = createConnection({ path: socketPath, allowHalfOpen: true });
  const cut = (): void => {
    // A break must not look like an end.
    inward.resetAndDestroy();
    outward.destroy();
  };
  for (const side of [inward, outward]) {
    side.on("error", cut);
    // A side that closes before its end was a break, and must not pass for an end.
    side.on("close", () => {
      if (!inward.readableEnded || !outward.readableEnded) cut();
    });
  }
  inward.pipe(outward);
  outward.pipe(inward);
  return outward;
}
