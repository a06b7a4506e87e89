import type { PermissionOption } from "./acp-message.ts";

/** By kind, never by place: some agents list `allow_always` first, some under names of their own. */
const WANTED = ["allow_always", "allow_once"];

/**
 * The option that lets an agent go on (spec 10.3). The sandbox is its limit, not its questions: one
 * that offers to ask no more is taken first. Without an allowing option the first one is taken, and
 * `default` where there is none, since an agent that gets no answer hangs.
 */
export function choosePermission(options: readonly PermissionOption[]): string {
  const bypass = options.find(({ optionId }) => optionId === "bypassPermissions");
  if (bypass !== undefined) return bypass.optionId;
  for (const kind of WANTED) {
    const found = options.find((option) => option.kind === kind);
    if (found !== undefined) return found.optionId;
  }
  return options[0]?.optionId ?? "default";
}
