import { createServer, type Server, type Socket } from "node:net";
import type { ForwardedPort } from "../../core/ports/sandbox.ts";
import { carryConnection } from "./carry-connection.ts";

/** As many as the model proxy takes: what a hostile agent opens beyond them is cut. */
export const MAX_CONNECTIONS = 256;

/**
 * Serves a listening socket, wherever its network namespace is: each connection goes to the unix
 * socket at `socketPath`. `listening` is what `net.Server.listen` takes as a handle.
 */
export function forwardServer(listening: Server, socketPath: string): ForwardedPort {
  const address = listening.address();
  const open = new Set<Socket>();
  // The socket's own server object cannot keep half-open connections; another one on it can.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inward) => {
    const outward = carryConnection(inward, socketPath);
    for (const socket of [inward, outward]) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Too many open files: the connection is lost, which its client sees; the port stays.
  server.on("error", () => undefined);
  server.listen(listening);
  let closing: Promise<void> | null = null;
  return {
    port: address !== null && typeof address === "object" ? address.port : 0,
    close: () =>
      (closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      })),
  };
}
