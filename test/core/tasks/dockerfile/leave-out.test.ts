import { expect, test } from "vitest";
import { leaveOut, leftOutSources } from "../../../../core/tasks/dockerfile/leave-out.ts";
import { parseDockerfile } from "../../../../core/tasks/dockerfile/parse-dockerfile.ts";

const instructionOf = (line: string) => {
  const { instructions } = parseDockerfile(`FROM debian\n${line}\n`);
  const found = instructions.at(-1);
  if (found === undefined) throw new Error(line);
  return found;
};

test.each([
  "COPY skills /skills",
  "COPY skills/ /skills/",
  "COPY --chown=0:0 ./skills/a /root/.claude/skills/a",
  'COPY ["skills/", "/my skills/"]',
  "ADD skills /skills",
])("%s goes as a whole", (line) => {
  expect(leaveOut(instructionOf(line), ["skills"])).toBeNull();
  expect(leaveOut(instructionOf(line), [])).not.toBeNull();
});

test.each([
  "COPY . /app",
  "COPY skills-data /x",
  "COPY app/skills /x",
  "COPY --from=base skills /x",
  "RUN ls skills",
])("%s stays as it is", (line) => {
  const each = instructionOf(line);
  expect(leaveOut(each, ["skills"])).toBe(each);
  expect(leftOutSources(each, ["skills"])).toEqual([]);
});

test("what else an instruction copies is copied", () => {
  const each = instructionOf("COPY a.txt skills/b ./skills /x/");
  expect(leaveOut(each, ["skills"])).toMatchObject({ sources: ["a.txt"], dest: "/x/" });
  expect(leftOutSources(each, ["skills"])).toEqual(["skills/b", "./skills"]);
});
