/** The command's pot refused to pay for more: the trial ends here, unscored, and may be made again. */
export class BudgetStop extends Error {
  override readonly name = "BudgetStop";
}
