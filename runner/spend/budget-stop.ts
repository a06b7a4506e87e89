import type { SpendEnd } from "../../core/ports/spend-gate.ts";
import type { TrialStop } from "../../core/outcome/trial-evidence.ts";

/** Nothing more may be spent on the trial: it ends here, unscored, and may be made again. */
export class BudgetStop extends Error {
  override readonly name = "BudgetStop";
  readonly by: SpendEnd;

  constructor(message: string, by: SpendEnd = "budget") {
    super(message);
    this.by = by;
  }

  get evidence(): TrialStop {
    const { message } = this;
    return this.by === "breaker" ? { kind: "circuit-open", message } : { kind: this.by, message };
  }
}
