/**
 * Orders names by their UTF-8 bytes, which is the order of code points. JavaScript's own order
 * compares UTF-16 units and puts U+1F600 before U+FF01.
 */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [unitOfA, unitOfB] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (unitOfA !== unitOfB) return codePointRank(unitOfA) - codePointRank(unitOfB);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank above every other unit. */
function codePointRank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}
