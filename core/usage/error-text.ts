import { numberOf, recordOf, textOf } from "./json-view.ts";

/** Enough for a person; the whole body is in the trajectory. */
const MAX_ERROR_LENGTH = 500;

/** A provider's error object in a line: its type or code, then its message. */
export function errorText(error: unknown): string {
  const fields = recordOf(error);
  const kind = [fields["type"], fields["status"], fields["code"]].find(
    (value) => textOf(value) !== null || numberOf(value) !== null,
  );
  const message = textOf(fields["message"]) ?? textOf(error) ?? "";
  return [kind, message]
    .filter((part) => part !== undefined && part !== "")
    .join(": ")
    .slice(0, MAX_ERROR_LENGTH);
}
