import { textOf } from "../../core/usage/json-view.ts";
import { Untranslatable } from "./conversation.ts";

/**
 * A text that a request must have. Throws `Untranslatable` with `missing`, for example `a tool without a
 * name`: sent on as an empty one it would be another request.
 */
export function requiredText(value: unknown, missing: string): string {
  const text = textOf(value);
  if (text === null) throw new Untranslatable(missing);
  return text;
}

/** The same for a name or an id, which is none where it is empty. */
export function requiredName(value: unknown, missing: string): string {
  return requiredText(value === "" ? null : value, missing);
}

/** A call's arguments as the JSON text that they are in OpenAI's protocols; absent ones are none. */
export function requiredArguments(value: unknown): string {
  return requiredText(value ?? "{}", "a tool call whose arguments are no text");
}
