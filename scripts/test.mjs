// `npm test`: brings what the tests need, runs every suite with a hard time limit, and prints the
// sum as the last line. `--soak` runs the same tests with the counts of the issue ("It must show").
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const soak = process.argv.includes("--soak");
const only = process.argv.find((word) => word.startsWith("--suite="))?.slice("--suite=".length);

/**
 * Suites of one lane run one after the other, lanes side by side: most tests wait for a container, a limit
 * or a process. A lane has a Docker daemon of its own, so that none sees what another made. Minutes are
 * hard limits.
 */
const SUITES = [
  // The soak simulates 84 cells of 5,000 sweeps (test/core/stats/coverage.test.ts).
  { name: "unit", lane: "unit", minutes: soak ? 120 : 15 },
  // The lightest two of all that `npm run test:agents` tries: they solve the examples end to end.
  {
    name: "two-agents",
    lane: "unit",
    minutes: 15,
    project: "agents",
    files: ["test/agents/scripted-examples.test.ts"],
    env: { BENCH_TEST_AGENTS: "codex pi" },
  },
  { name: "contract", lane: "contract", minutes: soak ? 60 : 20 },
  { name: "e2e", lane: "runs", minutes: soak ? 120 : 20 },
  { name: "redteam", lane: "runs", minutes: soak ? 60 : 20 },
  // The first run fetches some 500 MB of agents' programs (`npm run test:agents`).
  { name: "agents", lane: "runs", minutes: soak ? 60 : 20, byName: true },
  // Writes docs/faults.md (`npm run test:soak -- --suite=faults`).
  { name: "faults", lane: "runs", minutes: 150, byName: true },
  // Asked for by name (`npm run test:cloud`): it needs Python packages besides all else.
  { name: "cloud", lane: "runs", minutes: 12, byName: true },
].filter((suite) => (only === undefined ? suite.byName !== true : suite.name === only));
if (SUITES.length === 0) {
  console.error(`test: there is no suite ${only}`);
  process.exit(1);
}

installPackages();
execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "inherit" });
const scratch = mkdtempSync(join(tmpdir(), "bench-test-"));
/** Of each lane: where its tests find what was started for them. */
const found = new Map(SUITES.map(({ lane }) => [lane, {}]));
const stops = [];
/** Process groups of the suites that run. */
const running = new Set();
let isStopped = false;
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, endSuites);
let exitCode = 1;
try {
  if (SUITES.some(needsDaemon)) runScript("setup/machine.sh", [], {});
  for (const suite of SUITES) startServices(suite);
  exitCode = await runSuites();
} finally {
  for (const stop of stops.toReversed()) stop();
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(exitCode);

function installPackages() {
  const installed = join(root, "node_modules/.package-lock.json");
  const isCurrent =
    existsSync(join(root, "node_modules/vitest")) &&
    statSync(installed).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
  if (isCurrent) return;
  console.error("test: installing packages");
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: "inherit",
  });
}

function needsDaemon({ name }) {
  return name !== "unit";
}

/** A Docker daemon with the base images, one that answers or a private one; and the emulated AWS account, whose tasks run in it. */
function startServices({ name, lane }) {
  if (!needsDaemon({ name })) return;
  // A lane keeps the folder of its daemon, and so the images in it, from run to run.
  const folder = { BENCH_TEST_DOCKER_NAME: lane };
  if (found.get(lane).DOCKER_HOST === undefined) {
    stops.push(() => runScript("setup/docker-daemon.sh", ["down"], folder));
    found.set(lane, { ...folder, ...runScript("setup/docker-daemon.sh", ["up"], folder) });
  }
  if (name !== "cloud") return;
  const env = found.get(lane);
  stops.push(() => runScript("emulator/down.sh", [], env));
  found.set(lane, { ...env, ...runScript("emulator/up.sh", [], env) });
}

/** Runs a set-up script of test/ and reads the `export NAME=value` lines that it prints. */
function runScript(script, words, env) {
  const printed = execFileSync("bash", [join(root, "test", script), ...words], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return Object.fromEntries(
    [...printed.matchAll(/^export (\w+)=(.*)$/gmu)].map(([, name, value]) => [name, value]),
  );
}

/** Runs the lanes side by side, and says what each suite printed when it is done. */
async function runSuites() {
  const lanes = [...found.keys()].map((lane) => SUITES.filter((suite) => suite.lane === lane));
  const counts = (await Promise.all(lanes.map(runLane))).flat();
  for (const { name, reason } of counts.flatMap(({ skipped }) => skipped))
    console.log(`skipped: ${name}: ${reason}`);
  const sum = (of) => counts.reduce((total, each) => total + of(each), 0);
  const passed = sum((each) => each.passed);
  const failed = sum((each) => each.failed);
  const skipped = sum((each) => each.skipped.length);
  console.log(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

async function runLane(suites) {
  const ended = [];
  for (const suite of suites) {
    if (isStopped) break;
    const started = Date.now();
    const counts = await runSuite(suite);
    ended.push(counts);
    if (existsSync(logOf(suite.name))) process.stdout.write(readFileSync(logOf(suite.name)));
    console.log(
      `${suite.name}: ${counts.passed} passed, ${counts.failed} failed, ${Math.round((Date.now() - started) / 1000)} s`,
    );
  }
  return ended;
}

/** Where a suite prints while another does too; a suite that runs alone prints at once. */
function logOf(name) {
  return join(scratch, `${name}.log`);
}

/** Runs one suite; a suite that crashes, prints no counts or passes its limit counts as one failure. */
function runSuite({ name, lane, minutes, project = name, files = [], env = {} }) {
  const countsFile = join(scratch, `${name}.json`);
  const output = found.size === 1 ? "inherit" : openSync(logOf(name), "w");
  const child = spawn(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      ...files,
      "--project",
      project,
      "--passWithNoTests",
      "--reporter=default",
      `--reporter=${join(root, "test/setup/count-reporter.ts")}`,
    ],
    {
      cwd: root,
      stdio: ["ignore", output, output],
      detached: true,
      env: {
        ...process.env,
        ...found.get(lane),
        ...env,
        BENCH_TEST_COUNTS: countsFile,
        ...(soak ? { BENCH_TEST_SOAK: "1" } : {}),
      },
    },
  );
  running.add(child.pid);
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      console.error(`test: the ${name} suite passed its limit of ${minutes} minutes and is ended`);
      process.kill(-child.pid, "SIGKILL");
    }, minutes * 60_000);
    child.on("close", (code) => {
      clearTimeout(limit);
      running.delete(child.pid);
      if (!existsSync(countsFile)) resolve({ passed: 0, failed: 1, skipped: [] });
      else {
        const counts = JSON.parse(readFileSync(countsFile, "utf8"));
        resolve(code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts);
      }
    });
  });
}

/** A test run that is stopped ends what it started; each of its suites counts as failed. */
function endSuites() {
  isStopped = true;
  for (const group of running) process.kill(-group, "SIGKILL");
}
