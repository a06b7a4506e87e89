import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { SUPERVISOR_PROGRAM } from "../../../sandboxes/docker/supervisor-script.ts";

/** The functions of the program, without the part that runs them. */
const FUNCTIONS = SUPERVISOR_PROGRAM.slice(0, SUPERVISOR_PROGRAM.indexOf("\nBENCH_NL="));

describe.for(["bash", "dash"])("the supervisor's look at a process, by %s", (shell) => {
  let process: string;

  beforeEach(async () => {
    process = await mkdtemp(join(tmpdir(), "bench-look-"));
    onTestFinished(async () => {
      await rm(process, { recursive: true });
    });
  });

  // `look` after another one, whose line is still in its variable.
  const look = (): string => {
    const program = `${FUNCTIONS}\nGONE=0 L='1 (sh) S 0'; D=$1; look; echo "$? $GONE $ST"`;
    const options = { encoding: "utf8", timeout: 5000, stdio: "pipe" } as const;
    return execFileSync(shell, ["-c", program, "sh", process], options).trim();
  };

  // A folder can be opened and not be read, as the file of a process that ended in between.
  test("ends when the process does between opening its file and reading it", async () => {
    await mkdir(join(process, "stat"));
    expect(look()).toBe("1 1");
  });

  test("tells that a process is gone", () => {
    expect(look()).toBe("1 1");
  });

  test("reads a name that holds line breaks and brackets", async () => {
    const numbers = Array.from({ length: 49 }, (_, index) => String(index + 2)).join(" ");
    await writeFile(join(process, "stat"), `7 (a) R\n) (b\n) S ${numbers}\n`);
    expect(look()).toBe("0 0 S");
  });

  test.for([
    ["1", "1 0 Z"],
    ["2", "0 0 Z"],
  ])("takes a zombie with %s threads as %s", async ([threads, told]) => {
    const before = Array.from({ length: 16 }, () => "0").join(" ");
    await writeFile(join(process, "stat"), `7 (a) Z ${before} ${String(threads)} 0 99\n`);
    expect(look()).toBe(told);
  });
});

describe.for(["bash", "dash"])("the supervisor's search for victims, by %s", (shell) => {
  /** A search among processes that cannot die (its `kill` does nothing), or end after two looks. */
  const purge = (lives: string, alone: number): string => {
    const program = `${FUNCTIONS}
kill() { echo "kill $*"; }
each() { GONE=0 LOOKS=$((LOOKS + 1)); for P in ${lives}; do B=9 "$1"; done; }
find() { [ "$P" = other ] && keep || victim; }
LOOKS=0 ME=1 WK=1
purge 7 find 60 ${String(alone)} 3>&1 | sort | uniq -c | sed 's/^ *//'`;
    const options = { encoding: "utf8", timeout: 5000, stdio: "pipe" } as const;
    return execFileSync(shell, ["-c", program, "sh"], { ...options, env: {} }).trim();
  };

  test("a process that was killed and is still there is dying: all else is not killed for it", () => {
    const printed = purge("12 13", 1);
    expect(printed).toContain("c 7 . 2 60 0 2");
    expect(printed).toContain("1 kill -KILL 12");
    expect(printed).not.toContain("kill -KILL -1");
  });

  test("new ones at every look are victims, and lead to the one kill of everything", () => {
    const printed = purge("$LOOKS", 1);
    expect(printed).toContain("kill -KILL -1");
    expect(printed).toMatch(/c 7 \. 1 60 1 0/u);
  });
});
