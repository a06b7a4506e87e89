/** One thing that a static check of a task found. */
export interface Finding {
  /** An issue means that the task cannot be right; a warning is worth a look. */
  readonly kind: "issue" | "warning";
  readonly text: string;
}

export function issue(text: string): Finding {
  return { kind: "issue", text };
}

export function warn(text: string): Finding {
  return { kind: "warning", text };
}
