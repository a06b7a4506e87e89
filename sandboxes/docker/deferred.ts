/** A promise that is settled from outside, by whoever learns the outcome. */
export interface Deferred {
  readonly promise: Promise<void>;
  readonly isSettled: boolean;
  resolve(): void;
  reject(error: Error): void;
}

/** Its rejection is never "unhandled": someone may only come to await it later, or never. */
export function deferred(): Deferred {
  let isSettled = false;
  let settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => undefined);
  const mark = (use: (functions: NonNullable<typeof settle>) => void): void => {
    isSettled = true;
    if (settle !== null) use(settle);
  };
  return {
    promise,
    get isSettled() {
      return isSettled;
    },
    resolve: () => {
      mark(({ resolve }) => {
        resolve();
      });
    },
    reject: (error) => {
      mark(({ reject }) => {
        reject(error);
      });
    },
  };
}
