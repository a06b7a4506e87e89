/** Paths that a task or an agent may come up with, none of which stays inside the folder it is for. */
export const hostilePaths: readonly string[] = [
  "",
  ".",
  "..",
  "/etc/passwd",
  "../x",
  "a/../../x",
  "a/..",
  "a//b",
  "./a",
  "a/",
  "a\0b",
  "\uD800",
  "x".repeat(256),
  `${"é".repeat(130)}/a`,
  `${"a/".repeat(1500)}a`,
];
