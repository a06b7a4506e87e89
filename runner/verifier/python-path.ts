type Environment = Readonly<Record<string, string>>;

/** The PYTHONPATH that a verifier asks for, before anything of it is distrusted: the task's, then the image's. */
export function pythonPathOf(taskEnv: Environment, imageEnv: Environment): string {
  return [taskEnv["PYTHONPATH"], imageEnv["PYTHONPATH"]].filter(Boolean).join(":");
}
