import { expect, test } from "vitest";
import { BenchError } from "../../../../core/errors.ts";
import { parseDockerfile } from "../../../../core/tasks/dockerfile/parse-dockerfile.ts";

/** The instructions after a FROM, without their places. */
function read(text: string): readonly object[] {
  return parseDockerfile(`FROM base\n${text}`)
    .instructions.slice(1)
    .map(({ line: _line, endLine: _endLine, ...rest }) => rest);
}

function script(text: string): unknown {
  const [run] = parseDockerfile(`FROM base\n${text}`).stages[0]?.instructions ?? [];
  return run?.kind === "RUN" ? run.command : run;
}

test.each<[string, unknown]>([
  ['RUN echo "a  b" && printf \'%s\\n\' "$HOME"', 'echo "a  b" && printf \'%s\\n\' "$HOME"'],
  ["RUN a && \\\n  # a comment\n\n  b \\  \n c", "a &&   b  c"],
  ["RUN a \\\r\n  b\r", "a   b"],
  ['RUN cat <<< hi && x=$((1<<2)) && echo "<<EOF"', 'cat <<< hi && x=$((1<<2)) && echo "<<EOF"'],
  ["RUN <<EOF\nset -e\nFROM x # no\nEOF", "set -e\nFROM x # no\n"],
  ["RUN <<EOF\nfoo\\n\nEOF", "foo\\n\n"],
  ["RUN <<EOF\nfoo \\\nEOF", "foo \\\n"],
  ["RUN <<EOF\n\n\nEOF", "\n\n"],
  ["RUN <<-EOF\n\tx\n EOF\n\t\tEOF", "x\n EOF\n"],
  ["RUN python3 - <<'E' | tee x\nprint(1)\nE", "python3 - <<'E' | tee x\nprint(1)\nE"],
  ["RUN a <<A 3<<B\n1\nA\n2\nB", "a <<A 3<<B\n1\nA\n2\nB"],
  ["RUN d\\\\", "d\\\\"],
])("gives the shell of %j what Docker gives it", (text, expected) => {
  expect(script(text)).toEqual({ form: "shell", script: expected });
  expect(read(`${text}\nUSER after`).at(-1)).toEqual({ kind: "USER", value: "after" });
});

test("a heredoc in quotes does not swallow the rest of the file", () => {
  const text = "RUN echo \"a <<EOF\"\nRUN echo 'b <<EOF'\nRUN bash -c 'cat <<X'\nUSER z";
  expect(read(text)).toHaveLength(4);
});

test("a file with very many odd heredoc marks is refused instead of parsed for minutes", () => {
  const text = `FROM a\n${'RUN echo "a <<EOF"\n'.repeat(2000)}`;
  expect(() => parseDockerfile(text)).toThrow('more than 16 odd uses of "<<"');
});

test("JSON form keeps blanks, and text that only looks like JSON is for the shell", () => {
  expect(script('RUN ["bash", "-c", "echo hi  there"]')).toEqual({
    form: "exec",
    argv: ["bash", "-c", "echo hi  there"],
  });
  expect(script("RUN [ -d /x ] || true")).toEqual({ form: "shell", script: "[ -d /x ] || true" });
  expect(read('COPY ["a b", "/x/"]')).toMatchObject([{ sources: ["a b"], dest: "/x/" }]);
});

test("a lone heredoc that begins with #! is a file to execute", () => {
  expect(script("RUN <<EOF\n#!/usr/bin/env python3\nprint(1)\nEOF")).toEqual({
    form: "file",
    content: "#!/usr/bin/env python3\nprint(1)\n",
  });
});

test("flags of RUN and COPY are read and taken off the text", () => {
  expect(read("RUN --mount=type=cache,target=/c --network=none pip install x")).toEqual([
    {
      kind: "RUN",
      command: { form: "shell", script: "pip install x" },
      mounts: [{ type: "cache", options: { target: "/c" } }],
      network: "none",
      security: null,
    },
  ]);
  expect(read("COPY --from=b --chown=1:2 --chmod=0755 --exclude=*.md --link a c /d/")).toEqual([
    {
      kind: "COPY",
      sources: ["a", "c"],
      files: [],
      dest: "/d/",
      chown: "1:2",
      chmod: "0755",
      link: true,
      exclude: ["*.md"],
      from: "b",
      parents: false,
    },
  ]);
});

test("COPY and ADD take files written in place, expanded unless their delimiter is quoted", () => {
  expect(read("COPY <<A <<'B' /x/\na $X\nA\nb\nB\nADD <<C /y\nc\nC")).toMatchObject([
    {
      files: [
        { name: "A", content: "a $X\n", expand: true },
        { name: "B", content: "b\n", expand: false },
      ],
      dest: "/x/",
    },
    { kind: "ADD", files: [{ name: "C", content: "c\n" }], dest: "/y" },
  ]);
});

test("ENV is read in both forms with its quotes and escapes in place", () => {
  expect(read('ENV B="two words" C=a\\ b D= E="x=\\"y\\""\nENV PATH /opt/x:$PATH')).toEqual([
    {
      kind: "ENV",
      pairs: [
        { name: "B", value: '"two words"' },
        { name: "C", value: "a\\ b" },
        { name: "D", value: "" },
        { name: "E", value: '"x=\\"y\\""' },
      ],
    },
    { kind: "ENV", pairs: [{ name: "PATH", value: "/opt/x:$PATH" }] },
  ]);
});

test("the other instructions are read", () => {
  const text = [
    "ARG A B=1 C=",
    "WORKDIR /a b",
    "USER 1:2",
    'SHELL ["/bin/bash", "-c"]',
    "HEALTHCHECK --interval=5s CMD curl -f x",
    "HEALTHCHECK NONE",
    "EXPOSE 80 443/tcp",
    'VOLUME ["/a b"]',
    "STOPSIGNAL SIGTERM",
    "CMD []",
    "ENTRYPOINT exec x",
    "ONBUILD COPY a b",
    "MAINTAINER me",
    "LABEL a.b=c",
  ].join("\n");
  expect(read(text)).toMatchObject([
    {
      args: [
        { name: "A", value: null },
        { name: "B", value: "1" },
        { name: "C", value: "" },
      ],
    },
    { value: "/a b" },
    { value: "1:2" },
    { values: ["/bin/bash", "-c"] },
    { command: { script: "curl -f x" }, flags: { interval: "5s" } },
    { command: null },
    { values: ["80", "443/tcp"] },
    { values: ["/a b"] },
    { value: "SIGTERM" },
    { command: { form: "exec", argv: [] } },
    { command: { form: "shell", script: "exec x" } },
    { kind: "ONBUILD", trigger: { kind: "COPY", sources: ["a"], dest: "b" } },
    { value: "me" },
    { pairs: [{ name: "a.b", value: "c" }] },
  ]);
});

test("lines are 1-based and stages hold what follows their FROM", () => {
  const text =
    "\uFEFF# c\nARG V=1\n\nFROM a:$V AS One\nRUN x \\\n  y\nFROM --platform=linux/arm64 b\n";
  const { globalArgs, stages } = parseDockerfile(text);
  expect(globalArgs).toMatchObject([{ line: 2 }]);
  expect(stages).toMatchObject([
    {
      index: 0,
      name: "one",
      from: { line: 4, image: "a:$V" },
      instructions: [{ line: 5, endLine: 6 }],
    },
    { index: 1, name: null, from: { line: 7, platform: "linux/arm64" }, instructions: [] },
  ]);
});

test("the escape directive changes the continuation", () => {
  const { escape, stages } = parseDockerfile("# escape=`\nFROM a\nRUN x `\n y\\\nRUN z\n");
  expect(escape).toBe("`");
  expect(stages[0]?.instructions).toMatchObject([
    { command: { script: "x  y\\" } },
    { command: { script: "z" } },
  ]);
});

test.each([
  ["", "Dockerfile:1: no FROM in the file"],
  ["RUN x", "Dockerfile:1: RUN before the first FROM"],
  ["FROM a\nFOO x", "Dockerfile:2: unknown instruction FOO"],
  ["FROM a\nCOPY <<EOF /x\nnever\n", "Dockerfile:2: heredoc EOF is never closed"],
  ["FROM a\n\nRUN", "Dockerfile:3: RUN needs a command"],
  ["FROM a b", "Dockerfile:1: FROM a b: needs an image, or an image AS a name"],
  ["FROM a AS 1x", "Dockerfile:1: FROM has a stage name"],
  ["FROM a\nCOPY x", "Dockerfile:2: COPY x: needs a source and a destination"],
  ["FROM a\nCOPY --form=b x y", "Dockerfile:2: unknown flag: COPY --form"],
  ["FROM a\nCOPY --from=b --from=c x y", "Dockerfile:2: COPY --from is given twice"],
  ["FROM a\nCOPY --from=$X x y", "Dockerfile:2: COPY --from=$X: Docker expands no variables here"],
  ["FROM a\nCOPY a <<E\nE", "Dockerfile:2: COPY <<E: a heredoc cannot be the destination"],
  ["FROM a\nRUN [1]", "Dockerfile:2: RUN holds something other than strings in [1]"],
  ["FROM a\nRUN --mount=type=nope x", "unknown mount type nope"],
  ["FROM a\nSHELL bash", "Dockerfile:2: SHELL needs a JSON array"],
  ["FROM a\nENV X", "Dockerfile:2: ENV needs a value for X"],
  ["FROM a\nENV A=1 B", "Dockerfile:2: ENV needs the form name=value, not B"],
  ["FROM a\nONBUILD FROM b", "Dockerfile:2: ONBUILD cannot be followed by FROM"],
  ["FROM a\nHEALTHCHECK TEST x", "Dockerfile:2: HEALTHCHECK knows CMD and NONE, not TEST"],
  ["# escape=x\nFROM a", "Dockerfile:1: escape directive"],
])("refuses %j with line and reason", (text, message) => {
  expect(() => parseDockerfile(text)).toThrow(message);
  expect(() => parseDockerfile(text)).toThrow(BenchError);
});
