import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * The address of the daemon that tests use. `npm test` passes it on; a single test that is run by hand
 * gets it from the same script, which starts a daemon when none answers.
 */
export function dockerHost(): string {
  const { BENCH_TEST_BASE_IMAGE, DOCKER_HOST } = process.env;
  if (DOCKER_HOST !== undefined && BENCH_TEST_BASE_IMAGE !== undefined) return DOCKER_HOST;
  const script = fileURLToPath(new URL("docker-daemon.sh", import.meta.url));
  const printed = execFileSync("bash", [script, "up"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [, address] = /^export DOCKER_HOST=(.+)$/mu.exec(printed) ?? [];
  if (address === undefined) throw new Error(`no daemon address in ${JSON.stringify(printed)}`);
  return address;
}
