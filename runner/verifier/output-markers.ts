/**
 * Words in a verifier's own output. This is the one place where text decides anything: whether a
 * verdict that is missing anyway is called a failed installation (spec 2.4), and whether a zero gets
 * a warning (failures C-19). Neither makes or takes a score.
 */
const INSTALL_FAILURES: readonly string[] = [
  "could not find a version that satisfies the requirement",
  "no matching distribution found",
  "no solution found when resolving",
  "failed to download",
  "failed to fetch",
  "download failed",
  "could not resolve host",
  "could not resolve '",
  "temporary failure in name resolution",
  "temporary failure resolving",
  "name or service not known",
  "unable to locate package",
  "failed to establish a new connection",
  "network is unreachable",
];

const MISSING_TOOLS: readonly string[] = [
  "command not found",
  ": not found",
  "no module named pytest",
  "no module named 'pytest'",
];

/** Whether the verifier could not install what it needs. */
export function showsFailedInstall(output: string): boolean {
  return includesAny(output, INSTALL_FAILURES);
}

/** Whether a tool of the verifier was missing, by a failed installation or never having been there. */
export function showsMissingTool(output: string): boolean {
  return includesAny(output, [...INSTALL_FAILURES, ...MISSING_TOOLS]);
}

function includesAny(output: string, markers: readonly string[]): boolean {
  const lower = output.toLowerCase();
  return markers.some((marker) => lower.includes(marker));
}
