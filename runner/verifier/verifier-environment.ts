/** What the environment of a verifier is made of. Lists come from the hardening script, checked there. */
export interface EnvironmentParts {
  /** Folders for PATH and PYTHONPATH that only root can write, in order. */
  readonly path: readonly string[];
  readonly pythonPath: readonly string[];
  readonly home: string;
  readonly isFedora: boolean;
  /** pytest plugins of the image, found in folders that only root can write. */
  readonly imagePlugins: readonly string[];
  /** pytest plugins that the task declares. */
  readonly declaredPlugins: readonly string[];
  /** The tests bring pytest with uv: its plugins live there, and the image's cannot be loaded. */
  readonly usesUv: boolean;
  /** test.sh asks for a CTRF report. */
  readonly usesCtrf: boolean;
  /** Where the tests lie: `/tests` or `/verifier`. */
  readonly testsDir: string;
  /** Variables of download caches that the agent may have filled, with empty folders instead. */
  readonly caches: Readonly<Record<string, string>>;
  readonly imageEnv: Readonly<Record<string, string>>;
  readonly taskEnv: Readonly<Record<string, string>>;
}

const PLUGIN_NAME = /^[\w.-]+$/u;

/**
 * The whole environment of a verifier (spec 11.4 step 7): the image's, then the task's, then what
 * security sets whatever they said. Programs and modules come only from folders that an agent could
 * not write; pytest reads no configuration, no conftest above the tests and no plugin but those
 * named; nothing is preloaded.
 */
export function verifierEnvironment(parts: EnvironmentParts): Readonly<Record<string, string>> {
  return {
    ...parts.imageEnv,
    ...parts.taskEnv,
    ...pythonEnvironment(parts),
    ...parts.caches,
    PATH: parts.path.join(":"),
    HOME: parts.home,
    LD_PRELOAD: "",
    LD_LIBRARY_PATH: "",
    PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
    PYTEST_ADDOPTS: pytestOptions(parts).join(" "),
    // Hooks by which a program's environment makes it load code.
    COVERAGE_PROCESS_START: "",
    DJANGO_SETTINGS_MODULE: "",
    CELERY_CONFIG_MODULE: "",
    // The one program that git itself runs from a repository's config on a mere `git status`. Hooks
    // and filters stay: they can be what a task asked the agent to write (docs/decisions).
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.fsmonitor",
    GIT_CONFIG_VALUE_0: "false",
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    PIP_USER: "0",
    ...(parts.isFedora ? { PIP_PREFIX: "/usr/local" } : {}),
  };
}

function pythonEnvironment(parts: EnvironmentParts): Readonly<Record<string, string>> {
  return {
    PYTHONPATH: parts.pythonPath.join(":"),
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPYCACHEPREFIX: "/nonexistent",
    PYTHONNOUSERSITE: "1",
    PYTHONSTARTUP: "",
    PYTHONBREAKPOINT: "0",
  };
}

function pytestOptions(parts: EnvironmentParts): readonly string[] {
  const plugins = new Set([
    ...(parts.usesUv ? [] : parts.imagePlugins),
    ...parts.declaredPlugins,
    ...(parts.usesCtrf ? ["ctrf"] : []),
  ]);
  const { testsDir } = parts;
  return [
    "-c /dev/null",
    `--confcutdir=${testsDir}`,
    `--rootdir=${testsDir}`,
    "-p no:cacheprovider",
    ...[...plugins].filter((name) => PLUGIN_NAME.test(name)).map((name) => `-p ${name}`),
  ];
}
