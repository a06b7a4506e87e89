/** Anthropic's `error.type` by status; `api_error` for all others. */
export function anthropicErrorType(status: number): string {
  return ANTHROPIC_TYPES.get(status) ?? "api_error";
}

/** Google's `error.status` by HTTP status; null where it has none. */
export function googleErrorState(status: number): string | null {
  return GOOGLE_STATES.get(status) ?? null;
}

const ANTHROPIC_TYPES: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
]);

const GOOGLE_STATES: ReadonlyMap<number, string> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [429, "RESOURCE_EXHAUSTED"],
  [500, "INTERNAL"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
]);
