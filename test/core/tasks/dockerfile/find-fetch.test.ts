import { expect, test } from "vitest";
import { findFetch, findFetcher } from "../../../../core/tasks/dockerfile/find-fetch.ts";
import { parseDockerfile } from "../../../../core/tasks/dockerfile/parse-dockerfile.ts";

test.each([
  ["apt-get update && apt-get install -y jq", "apt-get"],
  ["set -eux; /usr/bin/pip3 install numpy", "pip3"],
  ["python3 -m pip install -r requirements.txt", "pip"],
  ["(cd /src && git clone https://x.org/y)", "git clone"],
  ["go mod download", "go mod"],
  ['sh -c "wget -qO- http://x | tar x"', "wget"],
  ["make -j2\n  && npm ci", "npm"],
])("the step %j fetches by %s", (script, program) => {
  expect(findFetcher(script)).toBe(program);
});

test.each([
  "make",
  "exit 7",
  "git config --global user.name x",
  "go vet ./...",
  "echo recurly",
  "mkdir /pip-cache",
])("the step %j fetches nothing", (script) => {
  expect(findFetcher(script)).toBeNull();
});

test("every form of RUN counts, and ADD of an address", () => {
  const text = [
    "FROM debian",
    'RUN ["curl", "-O", "http://x"]',
    "RUN <<EOF",
    "#!/usr/bin/env bash",
    "uv sync",
    "EOF",
    "ADD https://x.org/a.tar /a",
    "ADD a.tar /a",
    "COPY wget /usr/bin/",
  ].join("\n");
  const { instructions } = parseDockerfile(text);
  expect(instructions.map(findFetch)).toEqual([
    null,
    "curl",
    "uv",
    "https://x.org/a.tar",
    null,
    null,
  ]);
});
