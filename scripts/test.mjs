// `npm test`: brings what the tests need, runs every suite with a hard time limit, and prints the
// sum as the last line. `--soak` runs the same tests with the counts of the issue ("It must show").
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const soak = process.argv.includes("--soak");
const only = process.argv.find((word) => word.startsWith("--suite="))?.slice("--suite=".length);

/** Suites run in this order; minutes are hard limits. */
const SUITES = [
  { name: "unit", minutes: 15 },
  { name: "contract", minutes: soak ? 40 : 20 },
  { name: "e2e", minutes: soak ? 120 : 20 },
  { name: "redteam", minutes: soak ? 60 : 20 },
  // The first run fetches some 500 MB of agents' programs (`npm run test:agents`).
  { name: "agents", minutes: 20, byName: true },
  // Asked for by name (`npm run test:cloud`): it needs Python packages besides all else.
  { name: "cloud", minutes: 12, byName: true },
].filter((suite) => (only === undefined ? suite.byName !== true : suite.name === only));

installPackages();
execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root, stdio: "inherit" });
const scratch = mkdtempSync(join(tmpdir(), "bench-test-"));
const daemon = startDaemon();
let exitCode = 1;
let cloud = { env: {}, stop: () => undefined };
try {
  if (SUITES.some((suite) => suite.name === "cloud")) cloud = startCloud();
  exitCode = await runSuites();
} finally {
  cloud.stop();
  daemon.stop();
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

/** A Docker daemon with the base images: one that answers, or a private one that ends with the tests. */
function startDaemon() {
  if (SUITES.every((suite) => suite.name === "unit")) return { env: {}, stop: () => undefined };
  const script = join(root, "test/setup/docker-daemon.sh");
  return {
    env: exportsOf(script, ["up"], {}),
    stop: () =>
      execFileSync("bash", [script, "down"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] }),
  };
}

/** The emulated AWS account, whose tasks run in the daemon. */
function startCloud() {
  const kit = join(root, "test/emulator");
  return {
    env: exportsOf(join(kit, "up.sh"), [], daemon.env),
    stop: () =>
      execFileSync("bash", [join(kit, "down.sh")], {
        cwd: root,
        env: { ...process.env, ...daemon.env },
        stdio: ["ignore", "ignore", "inherit"],
      }),
  };
}

/** Runs a set-up script and reads the `export NAME=value` lines that it prints. */
function exportsOf(script, words, env) {
  const printed = execFileSync("bash", [script, ...words], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return Object.fromEntries(
    [...printed.matchAll(/^export (\w+)=(.*)$/gmu)].map(([, name, value]) => [name, value]),
  );
}

async function runSuites() {
  let passed = 0;
  let failed = 0;
  const skipped = [];
  for (const suite of SUITES) {
    const started = Date.now();
    const counts = await runSuite(suite);
    passed += counts.passed;
    failed += counts.failed;
    skipped.push(...counts.skipped);
    console.log(
      `${suite.name}: ${counts.passed} passed, ${counts.failed} failed, ${Math.round((Date.now() - started) / 1000)} s`,
    );
  }
  for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`);
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  console.log(`${passed} passed, ${failed} failed${tail}`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** Runs one suite; a suite that crashes, prints no counts or passes its limit counts as one failure. */
function runSuite({ name, minutes }) {
  const countsFile = join(scratch, `${name}.json`);
  const child = spawn(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--project",
      name,
      "--passWithNoTests",
      "--reporter=default",
      `--reporter=${join(root, "test/setup/count-reporter.ts")}`,
    ],
    {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
      env: {
        ...process.env,
        ...daemon.env,
        ...cloud.env,
        BENCH_TEST_COUNTS: countsFile,
        ...(soak ? { BENCH_TEST_SOAK: "1" } : {}),
      },
    },
  );
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      console.error(`test: the ${name} suite passed its limit of ${minutes} minutes and is ended`);
      process.kill(-child.pid, "SIGKILL");
    }, minutes * 60_000);
    child.on("close", (code) => {
      clearTimeout(limit);
      if (!existsSync(countsFile)) resolve({ passed: 0, failed: 1, skipped: [] });
      else {
        const counts = JSON.parse(readFileSync(countsFile, "utf8"));
        resolve(code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts);
      }
    });
  });
}
