import { expect, test } from "vitest";
import { makeRecipe } from "../../../sandboxes/docker/build-recipe.ts";
import {
  CLOSED_RANGES,
  guardMessages,
  releaseMessages,
} from "../../../sandboxes/docker/guard-rules.ts";
import { guardProgram, hasHelpers, killProgram } from "../../../sandboxes/docker/helper-program.ts";
import {
  SUPERVISOR_PROGRAM,
  SUPERVISOR_STARTER,
} from "../../../sandboxes/docker/supervisor-script.ts";

const recipe = (text: string, baseImageMap: Readonly<Record<string, string>> = {}) =>
  makeRecipe(text, { baseImageMap, platform: "linux/amd64" });

test("a Dockerfile with nothing to change goes as it is", () => {
  const text = "# a remark\r\nFROM debian:12\nRUN a \\\n  && b\n";
  expect(recipe(text)).toEqual({
    text,
    isUnchanged: true,
    fetcher: null,
    bases: ["debian:12"],
    runsCommands: true,
    remoteSources: [],
    buildKitOnly: null,
  });
});

test("mapped bases change FROM and COPY --from, and nothing else of their lines", () => {
  const text =
    "ARG V=12\nFROM --platform=linux/amd64 debian:${V} AS Base\nFROM base\nCOPY --chown=0:0 --from=tools:1 /a /b\nCOPY --from=base /c /d\n";
  const mapped = recipe(text, { "debian:12": "mine:1", "tools:1": "mine:2" });
  expect(mapped.text).toBe(
    "ARG V=12\nFROM --platform=linux/amd64 mine:1 AS base\nFROM base\nCOPY --chown=0:0 --from=mine:2 /a /b\nCOPY --from=base /c /d\n",
  );
  expect(mapped.bases.toSorted()).toEqual(["mine:1", "mine:2"]);
});

test("what is left out of the context is copied by no line, and the rest of the line is", () => {
  const text =
    'FROM debian:12\nCOPY skills/ \\\n  /skills/\nCOPY --chown=0:0 a ./skills b /x/\nCOPY ["skills", "c d", "/y/"]\nRUN ls\n';
  const made = makeRecipe(text, {
    baseImageMap: {},
    platform: "linux/amd64",
    leaveOut: ["skills"],
  });
  expect(made.text).toBe(
    'FROM debian:12\n\nCOPY --chown=0:0 a b /x/\nCOPY [ "c d", "/y/"]\nRUN ls\n',
  );
  expect(made.isUnchanged).toBe(false);
  expect(recipe(text).isUnchanged).toBe(true);
});

test("stages that nothing needs bring no base, and scratch is none", () => {
  const text = "FROM unused:1 AS a\nFROM scratch AS b\nCOPY x /\nFROM b\nCOPY y /\n";
  expect(recipe(text)).toMatchObject({ bases: [], runsCommands: false });
});

test("a heredoc becomes the JSON form in the shell that holds there", () => {
  const text =
    'FROM a\nRUN <<EOF\necho "1"\necho \'2\'\nEOF\nSHELL ["/bin/bash", "-ec"]\nRUN <<EOF\nx\nEOF\n';
  expect(recipe(text).text).toBe(
    'FROM a\nRUN ["/bin/sh","-c","echo \\"1\\"\\necho \'2\'\\n"]\nSHELL ["/bin/bash", "-ec"]\nRUN ["/bin/bash","-ec","x\\n"]\n',
  );
});

test("what only BuildKit knows is named with its line, and then nothing is rewritten for others", () => {
  const cases = {
    "RUN --mount=type=cache,target=/c x": "line 2: RUN --mount",
    "RUN --network=none x": "line 2: RUN --network",
    "COPY --chmod=755 a /b": "line 2: COPY --chmod",
    "COPY --link a /b": "line 2: COPY --link",
    "COPY <<EOF /b\nx\nEOF": "line 2: COPY with a file in the Dockerfile",
    "RUN <<EOF\n#!/usr/bin/perl\nprint 1\nEOF": "line 2: RUN with a script of its own interpreter",
  };
  for (const [line, reason] of Object.entries(cases)) {
    const text = `FROM a\n${line}\nRUN <<END\nx\nEND\n`;
    expect(recipe(text)).toMatchObject({ buildKitOnly: reason, text });
  }
});

test("addresses that ADD fetches are found, behind variables and triggers too", () => {
  const text =
    'FROM a\nADD http://h.invalid/x local.txt /x\nADD ["https://i.invalid/y", "/y"]\nADD $U /z\nONBUILD ADD git@g.invalid:r.git /r\nADD file.tgz /\n';
  expect(recipe(text).remoteSources).toEqual([
    "http://h.invalid/x",
    "https://i.invalid/y",
    "$U",
    "git@g.invalid:r.git",
  ]);
});

test("the guard closes every private range, by messages that the kernel can walk", () => {
  const plan = { closed: ["192.0.2.7", "not an address"], nameServers: ["10.0.0.53", "fd00::1"] };
  const messages = guardMessages(plan);
  // Two for the name server (udp, tcp), one a range, the host's address, and all of IPv6.
  expect(messages.length).toBe(2 + CLOSED_RANGES.length + 1 + 1);
  for (const message of [...messages, ...releaseMessages(plan)]) {
    expect(message.readUInt32LE(0)).toBe(message.byteLength);
    expect(message.byteLength % 4).toBe(0);
  }
  for (const range of ["10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"])
    expect(CLOSED_RANGES).toContain(range);
  expect(messages.map((message) => message.readUInt16LE(4))).toEqual(messages.map(() => 32));
});

test("helper programs are whole static executables of their machine", () => {
  expect(hasHelpers("linux/riscv64")).toBe(false);
  for (const [platform, machine] of [
    ["linux/amd64", 62],
    ["linux/arm64", 183],
  ] as const)
    for (const program of [guardProgram(platform, [], true), killProgram(platform)]) {
      expect(program.subarray(0, 4).toString("latin1")).toBe("\u007fELF");
      expect(program.readUInt16LE(18)).toBe(machine);
      // The one segment is the file, and execution begins behind the headers.
      expect(program.readBigUInt64LE(64 + 32)).toBe(BigInt(program.byteLength));
      expect(program.readBigUInt64LE(24)).toBe(0x400000n + 120n);
    }
});

test("the supervisor's program ends at its own dot, and its command line shows none of it", () => {
  const lines = SUPERVISOR_PROGRAM.split("\n");
  expect(lines.indexOf(".")).toBe(lines.length - 2);
  expect(lines.filter((line) => line.trim().startsWith("#"))).toEqual([]);
  expect(SUPERVISOR_PROGRAM).not.toContain("@{");
  expect(SUPERVISOR_STARTER.length).toBeLessThan(100);
});
