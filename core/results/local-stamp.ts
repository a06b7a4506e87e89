/**
 * A moment as the contract writes it (spec 1.4 #34): local time, space, microseconds, no zone, for
 * example `2026-07-26 21:32:16.431000`. `utcOffsetMinutes` is what the place adds to UTC: one offset
 * for both ends of a trial, so that their difference stays its length across a clock change.
 */
export function formatLocalStamp(moment: Date, utcOffsetMinutes: number): string {
  const local = new Date(moment.getTime() + utcOffsetMinutes * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 23)}000`;
}

const UTC_STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/u;

/** A recorded stamp as the contract's local one; a stamp that is not UTC already is local. */
export function toLocalStamp(stamp: string, utcOffsetMinutes: number): string {
  return isUtcStamp(stamp) ? formatLocalStamp(new Date(stamp), utcOffsetMinutes) : stamp;
}

export function isUtcStamp(stamp: string): boolean {
  return UTC_STAMP.test(stamp) && !Number.isNaN(Date.parse(stamp));
}

/**
 * Milliseconds of a stamp for differences and order, null when it is not one. Local stamps have no
 * zone and are compared as if they were UTC: right between stamps of one machine.
 */
export function stampMs(stamp: string): number | null {
  const match = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,9})?Z?$/u.exec(stamp);
  if (match === null) return null;
  const ms = Date.parse(`${match[1]}T${match[2]}${(match[3] ?? "").slice(0, 4)}Z`);
  return Number.isNaN(ms) ? null : ms;
}
