import { BenchError } from "../core/errors.ts";
import { environmentKeys, type FoundKeys } from "./container-keys.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The identity of a command: keys in the environment, then whatever AWS's own tools would use here (profiles,
 * single sign-on, assumed roles, a program that gives keys, the machine's role). Throws `BenchError`
 * (`unavailable`) when there is none.
 */
export async function findKeys(env: Env): Promise<FoundKeys> {
  const found = environmentKeys(env);
  if (found !== null) return found;
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  const profile = env["AWS_PROFILE"];
  try {
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider(
      profile === undefined ? {} : { profile },
    )();
    return {
      keys: { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null },
      expiresAt: expiration ?? null,
    };
  } catch (cause) {
    throw new BenchError("unavailable", "there are no AWS credentials here", {
      next: "log in with `aws configure` or `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
      cause,
    });
  }
}
