import type { Login } from "../logins/login.ts";

/** Where one login lies on this machine, beside the program that made it. */
export interface LoginStore {
  /** As it stands now; null where there is none. Throws `BenchError` (`config`) for a damaged file. */
  read(): Promise<Login | null>;
  /**
   * Runs while no other process of ours does the same. Throws `BenchError` (`unavailable`) where it cannot
   * be kept apart.
   */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Puts new tokens in the place of those of `before`; false where others stand there by now, which are
   * then left.
   */
  replace(before: Login, next: Login): Promise<boolean>;
}
