import { expect, test } from "vitest";
import { harborFiles, parsed } from "./task-builders.ts";

function refusedAt(dockerfile: string, toml = ""): string[] {
  const { refusals } = parsed(harborFiles(toml, { "environment/Dockerfile": dockerfile }));
  return refusals.map(({ path, reason }) => `${path}: ${reason}`);
}

test.each([
  ["a list", 'FROM debian:12\nRUN true\nENTRYPOINT ["/start.sh"]\nWORKDIR /app\n', 3],
  ["a shell line", "FROM debian:12\nentrypoint exec /start.sh\n", 2],
  ["the last of several", 'FROM debian:12\nENTRYPOINT []\nENTRYPOINT ["/start.sh"]\n', 3],
  [
    "the stage it starts from",
    'FROM debian:12 AS base\nENTRYPOINT ["a"]\nFROM base\nRUN true\n',
    2,
  ],
])("a task whose image starts through an ENTRYPOINT is refused: %s", (_what, text, line) => {
  expect(refusedAt(text)).toEqual([
    `environment/Dockerfile:${line}: ENTRYPOINT is not run by this edition, and what it starts would be missing`,
  ]);
});

test.each([
  ["none", 'FROM debian:12\nCMD ["bash"]\n'],
  ["an empty one", "FROM debian:12\nENTRYPOINT []\n"],
  ["one that is taken back", 'FROM debian:12\nENTRYPOINT ["/start.sh"]\nENTRYPOINT []\n'],
  ["a word in a comment", "FROM debian:12\n# no ENTRYPOINT here\n"],
  ["another stage's", 'FROM a:1 AS tool\nENTRYPOINT ["a"]\nFROM b:1\nCOPY --from=tool /x /x\n'],
  ["a Dockerfile that is none", 'ENTRYPOINT ["/start.sh"]\n'],
])("an image without an ENTRYPOINT is not refused for it: %s", (_what, text) => {
  expect(refusedAt(text)).toEqual([]);
});

test("the Dockerfile's ENTRYPOINT does not count where docker_image names the image", () => {
  const text = 'FROM debian:12\nENTRYPOINT ["/start.sh"]\n';
  expect(refusedAt(text, '[environment]\ndocker_image = "debian:12"')).toEqual([]);
});
