import { type ChildProcess, spawn } from "node:child_process";
import { Server } from "node:net";
import { type ForwardedPort, SandboxError } from "../../core/ports/sandbox.ts";
import { forwardServer } from "../forward/forward-server.ts";
import { TOOL_ENV } from "../run-tool.ts";
import type { Supervisor } from "./start-supervisor.ts";

/**
 * Listens on the loopback of whatever network namespace it runs in, and hands the socket over: a
 * socket stays in the namespace that it was made in, whoever holds it.
 */
const LISTENER = `
const server = require("node:net").createServer();
server.on("error", (error) => { process.stderr.write(error.message); process.exit(1); });
server.listen({ host: "127.0.0.1", port: 0, backlog: 256 }, () => {
  process.send("listening", server, () => process.exit(0));
});`;

const LISTEN_TIMEOUT_MS = 30_000;

/**
 * A port on a sandbox's loopback, served by this process itself: nothing runs inside for it, and
 * nothing inside can see or end what serves it.
 */
export async function forwardPort(
  supervisor: Supervisor,
  socketPath: string,
): Promise<ForwardedPort> {
  const child = spawn(
    "nsenter",
    ["--target", String(supervisor.pid), "--net", "--", process.execPath, "-e", LISTENER],
    { stdio: ["ignore", "ignore", "pipe", "ipc"], env: TOOL_ENV, cwd: "/", detached: true },
  );
  return forwardServer(await listeningOf(child), socketPath);
}

async function listeningOf(child: ChildProcess): Promise<Server> {
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    if (complaint.length < 4096) complaint += chunk.toString();
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), LISTEN_TIMEOUT_MS);
  try {
    return await new Promise<Server>((resolve, reject) => {
      const fail = (why: string): void => {
        reject(new SandboxError("start-failed", `no port can be opened in the sandbox: ${why}`));
      };
      child.once("message", (_words, handle) => {
        if (handle instanceof Server) resolve(handle);
        else fail("no socket came");
      });
      child.once("error", (error) => {
        fail(error.message);
      });
      child.once("close", () => {
        fail(complaint.trim() || "its listener ended");
      });
    });
  } finally {
    clearTimeout(timer);
  }
}
