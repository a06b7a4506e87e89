/**
 * A field of a JSON value, of whatever type; undefined where there is none. Not by a schema library: the
 * first program of a task reads AWS's answers too, and all of it lies in the task's definition.
 */
export function jsonField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
