import fc from "fast-check";
import { expect, test } from "vitest";
import { applyInstruction } from "../../../../core/tasks/dockerfile/apply-instruction.ts";
import { expandWord } from "../../../../core/tasks/dockerfile/expand-word.ts";
import type { Instruction } from "../../../../core/tasks/dockerfile/instruction.ts";
import { parseDockerfile } from "../../../../core/tasks/dockerfile/parse-dockerfile.ts";
import { planStages, startStage } from "../../../../core/tasks/dockerfile/plan-stages.ts";
import { EMPTY_IMAGE, runEnvironment } from "../../../../core/tasks/dockerfile/stage-scope.ts";

const rules = { escape: "\\", quotes: "remove" } as const;

/** Replays the last stage: what each instruction became, and the scope at the end. */
function replay(text: string, env: Record<string, string> = {}) {
  const plan = planStages(parseDockerfile(text), { platform: "linux/amd64" });
  let scope = startStage(plan, { ...EMPTY_IMAGE, env });
  const instructions: Instruction[] = [];
  for (const each of plan.stages.at(-1)?.instructions ?? []) {
    const applied = applyInstruction(scope, each);
    instructions.push(applied.instruction);
    scope = applied.scope;
  }
  return { instructions, scope };
}

test.each([
  ["$X-${X}-$Y", "1-1-"],
  ["${X:-d}${Y:-d}${E:-d}${E-d}", "1dd"],
  ["${X:+s}${Y:+s}${E:+s}${E+s}", "ss"],
  ["${Y:-a${X}b}", "a1b"],
  ["'$X' \"$X\" \\$X", "$X 1 $X"],
  ['"a\\"b\\n"', 'a"b\\n'],
  ["a\\ b\\", "a b"],
  ["$", "$"],
  ["$1 $$X", " X"],
])("expands %j", (word, expected) => {
  expect(expandWord(word, { X: "1", E: "" }, rules)).toBe(expected);
});

test.each([
  ["${X", "missing '}' in ${X"],
  ["${}", "bad substitution in ${}"],
  ["${Y:?say so}", "Y: say so"],
  ["${Y?}", "Y: is not allowed to be unset"],
  ["'a", "missing closing ' in 'a"],
  ['"a', 'missing closing " in "a'],
  ["${X%.*}", "modifier % is not supported"],
  ["${__proto__:?}", "__proto__: is not allowed to be unset"],
])("refuses %j", (word, message) => {
  expect(() => expandWord(word, { X: "1" }, rules)).toThrow(message);
});

test("a word without $, quotes and escapes stays as it is, and any value survives quoting", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const plain = text.replaceAll(/[$"'\\]/gu, "");
      expect(expandWord(plain, {}, rules)).toBe(plain);
      expect(expandWord("${V}", { V: text }, rules)).toBe(text);
      const quoted = `"${text.replaceAll(/["$\\]/gu, (char) => `\\${char}`)}"`;
      expect(expandWord(quoted, {}, rules)).toBe(text);
    }),
  );
});

test("values of one ENV see the values from before it", () => {
  const { scope } = replay("FROM a\nENV A=1\nENV A=2 B=$A\nENV C=$A$B");
  expect(scope.config.env).toEqual({ A: "2", B: "1", C: "21" });
});

test("a bare ARG in a stage takes the value from before FROM, and only then", () => {
  const text = "ARG V=7\nFROM a:$V\nENV BEFORE=x$V\nARG V\nENV AFTER=x$V\nARG TARGETARCH";
  const { scope } = replay(text);
  expect(scope.config.env).toEqual({ BEFORE: "x", AFTER: "x7" });
  expect(scope.args).toEqual({ V: "7", TARGETARCH: "amd64" });
});

test("ENV beats ARG of the same name in RUN's environment, and PATH has Docker's default", () => {
  const { scope } = replay("FROM a\nENV X=env\nARG X=arg Y=arg");
  expect(runEnvironment(scope)).toMatchObject({ X: "env", Y: "arg", PATH: /^\/usr\/local\/sbin/u });
  expect(runEnvironment(replay("FROM a\nRUN x", { PATH: "/p" }).scope)["PATH"]).toBe("/p");
});

test("build arguments beat defaults", () => {
  const file = parseDockerfile("ARG V=1\nFROM a:$V\nARG V\nARG W=2");
  const plan = planStages(file, { platform: "linux/amd64", buildArgs: { V: "9", W: "8" } });
  expect(plan.stages[0]?.base).toEqual({ kind: "image", reference: "a:9" });
  let scope = startStage(plan, EMPTY_IMAGE);
  for (const each of plan.stages[0]?.instructions ?? [])
    scope = applyInstruction(scope, each).scope;
  expect(scope.args).toEqual({ V: "9", W: "8" });
});

test("COPY, WORKDIR and USER are expanded, commands are not", () => {
  const { instructions, scope } = replay(
    "FROM a\nENV D=d U=me\nWORKDIR /x\nWORKDIR $D/../e\nUSER $U\n" +
      'COPY --chown=$U "$D/f" <<F /t/$D/\nhi "$U" \\$U\nF\nRUN echo $D\nCMD echo $D',
  );
  expect(scope.config).toMatchObject({ workdir: "/x/e", user: "me" });
  expect(instructions.slice(4)).toMatchObject([
    { sources: ["d/f"], dest: "/t/d/", chown: "me", files: [{ content: 'hi "me" $U\n' }] },
    { command: { script: "echo $D" } },
    { command: { script: "echo $D" } },
  ]);
});

test("only the stages that the last one needs are built, in file order", () => {
  const file = parseDockerfile(
    "FROM a AS one\nFROM b AS unused\nFROM One AS three\nFROM scratch\n" +
      "COPY --from=three x x\nCOPY --from=ghcr.io/x/y:1 z z\nRUN --mount=type=bind,from=0 true",
  );
  const { stages } = planStages(file, { platform: "linux/amd64" });
  expect(stages.map(({ index, base }) => ({ index, base }))).toEqual([
    { index: 0, base: { kind: "image", reference: "a" } },
    { index: 2, base: { kind: "stage", index: 0 } },
    { index: 3, base: { kind: "scratch" } },
  ]);
});

test("a variable that must be set names its line", () => {
  expect(() => replay("FROM a\n\nENV X=${Y:?give}")).toThrow("Dockerfile:3: Y: give");
  expect(() => replay("FROM $NOTHING")).toThrow("Dockerfile:1: FROM $NOTHING expands to an empty");
});
