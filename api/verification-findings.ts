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
    const isEmpty = checked.sealed_files === 0 && checked.cards === 0;
    return {
      kind: "benchflow.verification",
      schema_version: 1,
      consistent: differences.length > 0 ? false : isEmpty ? null : true,
      differences,
      notes,
      checked,
      root_sha256: rootSha256,
    };
  }
}
