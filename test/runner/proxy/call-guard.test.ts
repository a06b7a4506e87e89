import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { CallGuard, CallStop } from "../../../runner/proxy/call-guard.ts";

const LIMITS = { firstByteMs: 60, idleMs: 60, totalMs: 10_000, giveUpMs: 60 };

function kindOf(guard: CallGuard): string {
  const { aborted, reason } = guard.signal;
  return aborted && reason instanceof CallStop ? reason.kind : "running";
}

test("a wait that is over its limit ends the call by its name, a pause does not", async () => {
  const waiting = new CallGuard(LIMITS);
  waiting.awaitFirstByte();
  const idle = new CallGuard(LIMITS);
  idle.awaitMore();
  const paused = new CallGuard(LIMITS);
  paused.awaitMore();
  paused.pause();
  await delay(150);
  expect([waiting, idle, paused].map(kindOf)).toEqual(["first-byte", "idle", "running"]);
  paused.end();
});

test("an agent that gives up on a silent provider is told from one that goes away", async () => {
  const limits = { ...LIMITS, firstByteMs: 10_000, idleMs: 10_000 };
  const [silent, speaking, paused] = [1, 2, 3].map(() => new CallGuard(limits));
  silent?.awaitFirstByte();
  speaking?.awaitFirstByte();
  paused?.awaitFirstByte();
  await delay(100);
  speaking?.awaitMore();
  paused?.pause();
  const guards = [silent, speaking, paused].flatMap((each) => each ?? []);
  for (const guard of guards) guard.stop("gone");
  expect(guards.map(kindOf)).toEqual(["given-up", "gone", "gone"]);
});

test("a whole call has its limit too, and one that has ended is not ended again", async () => {
  const guard = new CallGuard({ ...LIMITS, totalMs: 40 });
  await delay(100);
  expect(kindOf(guard)).toBe("total");
  const ended = new CallGuard({ ...LIMITS, totalMs: 40 });
  ended.awaitMore();
  ended.end();
  await delay(120);
  expect(kindOf(ended)).toBe("running");
});
