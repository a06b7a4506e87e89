import { defineConfig } from "vitest/config";

/**
 * unit: pure and file-system tests, no root, no daemon, seconds. contract: each port on each adapter that
 * can run here. cloud: what needs the emulated AWS account. e2e: the built `bench` as a person runs it.
 * agents: real agents. faults: all of them under every fault of a provider, for an hour. redteam: tasks
 * whose agent attacks.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "test/{aws,core,functions,host,infra,runner,stores,cli,api,sandboxes}/**/*.test.ts",
          ],
          exclude: ["**/*.contract.test.ts"],
          setupFiles: ["test/setup/remove-temp-folders.ts"],
          testTimeout: 20_000,
          // Our modules keep no state that a test could leave to the next file, and loading them anew
          // for each of 250 files took longer than the tests.
          isolate: false,
        },
      },
      {
        test: {
          name: "contract",
          include: ["test/**/*.contract.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "cloud",
          include: ["test/cloud/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "agents",
          include: ["test/agents/**/*.test.ts"],
          exclude: ["**/*.soak.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "faults",
          include: ["test/agents/**/*.soak.test.ts"],
          testTimeout: 3_600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "redteam",
          include: ["test/redteam/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
