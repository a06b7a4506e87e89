import { BaseCredentials, StackSelectionStrategy, Toolkit } from "@aws-cdk/toolkit-lib";

export interface DeployOptions {
  /** Folder that `synthesize` wrote. */
  readonly assemblyDir: string;
  readonly region: string;
  /** Progress, a line at a time. */
  readonly onLine: (line: string) => void;
}

/**
 * Creates or updates the stack in the account of the credentials that the environment names, without
 * CDK's bootstrap and without Docker. Rejects with the toolkit's own error, which names what AWS refused.
 */
export async function deployStack({ assemblyDir, region, onLine }: DeployOptions): Promise<void> {
  const toolkit = new Toolkit({
    emojis: false,
    color: false,
    sdkConfig: { baseCredentials: BaseCredentials.awsCliCompatible({ defaultRegion: region }) },
    ioHost: {
      notify: async ({ level, message }) => {
        if (level === "debug" || level === "trace") return;
        for (const line of message.split("\n")) if (line.trim() !== "") onLine(line);
      },
      // What is asked was asked before, in our own words; the toolkit's default answers are for that case.
      requestResponse: async ({ defaultResponse }) => defaultResponse,
    },
  });
  const assembly = await toolkit.fromAssemblyDirectory(assemblyDir);
  await toolkit.deploy(assembly, { stacks: { strategy: StackSelectionStrategy.ALL_STACKS } });
}
