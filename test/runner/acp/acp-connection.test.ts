import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { SessionUpdate } from "../../../core/acp/acp-message.ts";
import { connectAcp } from "../../../runner/acp/acp-connection.ts";
import { BytePipe } from "../../fakes/memory-sandboxes/byte-pipe.ts";

/** An agent's end of a connection, played by the test line by line. */
function anAgent() {
  const output = new BytePipe();
  const written: unknown[] = [];
  const updates: SessionUpdate[] = [];
  const noise: string[] = [];
  const connection = connectAcp(
    {
      stdout: output.read(),
      write: async (bytes) => void written.push(JSON.parse(Buffer.from(bytes).toString())),
    },
    {
      onUpdate: (update) => void updates.push(update),
      onPermission: () => undefined,
      onNoise: (text) => void noise.push(text),
    },
  );
  const print = (...lines: (object | string)[]): void => {
    for (const line of lines)
      output.push(Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`));
  };
  return { connection, output, print, written, updates, noise };
}

const rpc = (fields: object) => ({ jsonrpc: "2.0", ...fields });

test("an answer reaches its request, and one with another id reaches nobody", async () => {
  const { connection, print, written, noise } = anAgent();
  const first = connection.request("one", {});
  const second = connection.request("two", {});
  await expect.poll(() => written).toMatchObject([{ method: "one" }, { method: "two" }]);
  print(
    rpc({ id: 99, result: "forged" }),
    rpc({ id: "1", result: "forged" }),
    rpc({ id: 1, result: "second" }),
    rpc({ id: 1, result: "again" }),
    rpc({ id: 0, error: { code: -32_000, message: "no" } }),
  );
  await expect(second).resolves.toBe("second");
  await expect(first).rejects.toMatchObject({ code: -32_000, message: "no" });
  expect(noise.map((line) => JSON.parse(line).id)).toEqual([99, "1", 1]);
});

test("an answer that is none fails its request, and does not leave it waiting", async () => {
  const { connection, print, written } = anAgent();
  const request = connection.request("one", {});
  await expect.poll(() => written).toHaveLength(1);
  print(rpc({ id: 0, error: "not an error object" }));
  await expect(request).rejects.toMatchObject({ code: -32_600 });
});

test("permission is given by kind, and everything else that an agent asks is refused", async () => {
  const { print, written } = anAgent();
  print(
    rpc({
      id: "p",
      method: "session/request_permission",
      params: {
        sessionId: "s",
        toolCall: { toolCallId: "t" },
        options: [
          { optionId: "no", kind: "reject_once", name: "No" },
          { optionId: "yes", kind: "allow_always", name: "Yes" },
        ],
      },
    }),
    rpc({ id: "f", method: "fs/write_text_file", params: { sessionId: "s", path: "/etc/passwd" } }),
    rpc({ id: "t", method: "terminal/create", params: {} }),
    rpc({ id: "c", method: "craft/anything", params: null }),
  );
  await expect
    .poll(() => written)
    .toMatchObject([
      { id: "p", result: { outcome: { outcome: "selected", optionId: "yes" } } },
      { id: "f", error: { code: -32_601 } },
      { id: "t", error: { code: -32_601 } },
      { id: "c", error: { code: -32_601 } },
    ]);
});

test("updates come as they are, those of unknown kinds included, and nothing is printed", async () => {
  const consoles = [vi.spyOn(console, "error"), vi.spyOn(console, "log")];
  const { print, updates, noise } = anAgent();
  print(
    rpc({
      method: "session/update",
      params: { sessionId: "a", update: { sessionUpdate: "new", x: 1 } },
    }),
    rpc({ method: "session/update", params: { sessionId: 1, update: { sessionUpdate: "new" } } }),
    rpc({ method: "session/update" }),
    rpc({ method: "other/notice", params: {} }),
    "plain chatter",
    "   ",
    rpc({ method: "session/update", params: { sessionId: "b", update: { sessionUpdate: "old" } } }),
  );
  await expect.poll(() => updates).toMatchObject([{ update: { x: 1 } }, { sessionId: "b" }]);
  expect(noise).toHaveLength(3);
  for (const each of consoles) expect(each).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});

test("the end of the output ends what still waits", async () => {
  const { connection, output } = anAgent();
  const request = connection.request("one", {});
  output.end();
  await expect(request).rejects.toThrow("closed");
});

test("an agent that asks and reads no answer is read no further", async () => {
  let pulled = 0;
  async function* asking(): AsyncGenerator<Uint8Array> {
    for (let id = 0; id < 100_000; id += 1) {
      pulled += 1;
      yield Buffer.from(`${JSON.stringify(rpc({ id: `q${String(id)}`, method: "fs/x" }))}\n`);
    }
  }
  const never = new Promise<void>(() => undefined);
  connectAcp(
    { stdout: asking(), write: async () => await never },
    { onUpdate: () => undefined, onPermission: () => undefined, onNoise: () => undefined },
  );
  await delay(300);
  expect(pulled).toBeLessThan(1000);
});
