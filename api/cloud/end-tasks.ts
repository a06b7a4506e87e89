import { setTimeout as delay } from "node:timers/promises";
import * as z from "zod";
import { awsFailure } from "../../aws/aws-error.ts";
import type { CloudAccount } from "./cloud-account.ts";

const PAGE = 100;
const LOOK_MS = 1000;
/** What a runner gets to seal and send what exists, and the platform's own time after it. */
const LIMIT_MS = 180_000;

const Listed = z.object({ taskArns: z.array(z.string()), nextToken: z.string().optional() });
const Described = z.object({
  tasks: z.array(
    z.object({ taskArn: z.string(), group: z.string().optional(), lastStatus: z.string() }),
  ),
});

/**
 * Stops every task of a run and looks until none is left: two looks in a row that find nobody. Resolves to
 * the number that then still runs, as the service says it: 0, or what did not end in three minutes.
 */
export async function endTasks(account: CloudAccount, run: string): Promise<number> {
  const until = performance.now() + LIMIT_MS;
  const asked = new Set<string>();
  let running: readonly string[] = [];
  try {
    for (let clean = 0; clean < 2 && performance.now() < until;) {
      running = await tasksOf(account, run, asked);
      for (const task of running.filter((arn) => !asked.has(arn))) {
        await stop(account, task);
        asked.add(task);
      }
      clean = running.length === 0 ? clean + 1 : 0;
      await delay(LOOK_MS);
    }
  } catch (error) {
    throw awsFailure(error, `stop the tasks of ${run}`);
  }
  return running.length;
}

/** Tasks of the run that have not stopped: those the cluster lists, and those that were told to stop. */
async function tasksOf(
  account: CloudAccount,
  run: string,
  asked: ReadonlySet<string>,
): Promise<readonly string[]> {
  const arns = [...new Set([...(await listTasks(account)), ...asked])];
  const running: string[] = [];
  for (let start = 0; start < arns.length; start += PAGE) {
    const input = { cluster: account.stack.OutCluster, tasks: arns.slice(start, start + PAGE) };
    const { tasks } = Described.parse(await (await account.services.ecs()).describeTasks(input));
    const left = tasks.filter(({ group, lastStatus }) => group === run && lastStatus !== "STOPPED");
    running.push(...left.map(({ taskArn }) => taskArn));
  }
  return running;
}

async function listTasks({ services, stack }: CloudAccount): Promise<readonly string[]> {
  const arns: string[] = [];
  let nextToken: string | undefined;
  do {
    const input = { cluster: stack.OutCluster, desiredStatus: "RUNNING", nextToken } as const;
    const page = Listed.parse(await (await services.ecs()).listTasks(input));
    arns.push(...page.taskArns);
    ({ nextToken } = page);
  } while (nextToken !== undefined);
  return arns;
}

async function stop({ services, stack }: CloudAccount, task: string): Promise<void> {
  const input = { cluster: stack.OutCluster, task, reason: "stopped by its user" };
  await (await services.ecs()).stopTask(input);
}
