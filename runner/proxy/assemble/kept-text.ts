/** How many characters of a reply may still be kept; shared by all of its texts. */
export class KeepBudget {
  #left: number;
  #droppedChars = 0;

  constructor(maxChars: number) {
    this.#left = maxChars;
  }

  get droppedChars(): number {
    return this.#droppedChars;
  }

  /** Pays for something kept beside text; false, and nothing paid, when there is too little left. */
  pay(chars: number): boolean {
    if (chars > this.#left) {
      this.#droppedChars += chars;
      return false;
    }
    this.#left -= chars;
    return true;
  }

  /** As much of a piece as may still be kept. */
  take(piece: string): string {
    const kept = piece.slice(0, this.#left);
    this.#left -= kept.length;
    this.#droppedChars += piece.length - kept.length;
    return kept;
  }
}

/** Text that comes in pieces; joined once, however many there are. */
export class KeptText {
  readonly #pieces: string[] = [];
  readonly #budget: KeepBudget;

  constructor(budget: KeepBudget) {
    this.#budget = budget;
  }

  add(piece: string): void {
    const kept = this.#budget.take(piece);
    if (kept !== "") this.#pieces.push(kept);
  }

  toString(): string {
    return this.#pieces.join("");
  }
}
