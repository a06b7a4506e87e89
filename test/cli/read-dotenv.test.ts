import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readDotenv } from "../../cli/read-dotenv.ts";

describe("a .env file", () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), "bench-dotenv-"));
  });
  afterEach(async () => {
    await rm(cwd, { recursive: true });
  });

  test("gives keys in every spelling that shells have", async () => {
    const text = [
      "# a remark",
      "export OPENAI_API_KEY=plain # why",
      'XIAOMI_API_KEY="in quotes # kept" # why',
      "  DEEPSEEK_API_KEY = 'single' ",
      "GLM_API_KEY=with#hash",
      "no line of ours",
    ].join("\r\n");
    await writeFile(join(cwd, ".env"), text);
    expect(readDotenv({ cwd, env: {} }).keys).toEqual({
      OPENAI_API_KEY: "plain",
      XIAOMI_API_KEY: "in quotes # kept",
      DEEPSEEK_API_KEY: "single",
      GLM_API_KEY: "with#hash",
    });
  });

  test("sends no key anywhere: what could redirect one is named and not taken", async () => {
    const names = [
      "XIAOMI_BASE_URL",
      "DEEPSEEK_ANTHROPIC_BASE_URL",
      "HTTPS_PROXY",
      "AWS_SECRET_ACCESS_KEY",
      "DOCKER_HOST",
      "NODE_OPTIONS",
      "BENCHFLOW_STATE_DIR",
    ];
    await writeFile(join(cwd, ".env"), names.map((name) => `${name}=x\n`).join("") + "OTHER=1\n");
    expect(readDotenv({ cwd, env: {} })).toEqual({ keys: {}, ignored: names });
  });

  test("may be named, and then has to be there", async () => {
    await writeFile(join(cwd, "keys"), "OPENAI_API_KEY=k\n");
    expect(readDotenv({ cwd, env: { BENCHFLOW_DOTENV_PATH: "keys" } }).keys).toEqual({
      OPENAI_API_KEY: "k",
    });
    expect(() => readDotenv({ cwd, env: { BENCHFLOW_DOTENV_PATH: "other" } })).toThrow("other");
  });

  test("that is missing is none, and that is a folder is an error", async () => {
    expect(readDotenv({ cwd, env: {} })).toEqual({ keys: {}, ignored: [] });
    await mkdir(join(cwd, ".env"));
    expect(() => readDotenv({ cwd, env: {} })).toThrow(/\.env: it is no file/u);
  });
});
