import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { CommandRunner } from "./run-command.ts";
import { CallServer } from "./serve-calls.ts";

/*
 * execd: the task container's only program of ours. Runs from the kit that the runner's container put on a
 * shared volume, with its own Node.js and libraries, so that the image needs none. `execd.mjs BOX SOCKET PIPES`:
 * listens on the socket for one runner, and for no other after it, and ends with it.
 */
const [box = "", socketPath = "", pipesDir = ""] = process.argv.slice(2);
const facts = {
  workdir: process.cwd(),
  env: Object.fromEntries(
    // The container's platform sets HOSTNAME; PWD and its like are a shell's.
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name === "HOSTNAME" ? [] : [[name, value]],
    ),
  ),
};
process.chdir("/");
const runner = new CommandRunner(box, pipesDir);
const server = createServer((socket) => {
  // Its name goes with it.
  server.close();
  const calls = new CallServer(socket, runner, facts);
  void calls.closed.then(() => process.exit(0));
});
server.maxConnections = 1;
server.listen(socketPath, () => {
  chmodSync(socketPath, 0o600);
});
