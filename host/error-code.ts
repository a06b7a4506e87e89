/** The system's word for an error, as `ENOENT`; empty for anything else that was thrown. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}
