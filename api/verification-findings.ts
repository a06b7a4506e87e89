import type { VerificationReport } from "../core/model/verification-report.ts";

/** Everything that a verification has found so far; files are told relative to what is verified. */
export class VerificationFindings {
  readonly differences: VerificationReport["differences"] = [];
  readonly notes: string[] = [];
  readonly checked = { jobs: 0, attempts: 0, sealed_files: 0, cards: 0 };
  rootSha256: string | null = null;

  differs(file: string, what: string): void {
    this.differences.push({ file, what });
  }

  toReport(): VerificationReport {
    const { differences, notes, checked, rootSha256 } = this;
    return {
      kind: "benchflow.verification",
      schema_version: 1,
      consistent: differences.length === 0,
      differences,
      notes,
      checked,
      root_sha256: rootSha256,
    };
  }
}
