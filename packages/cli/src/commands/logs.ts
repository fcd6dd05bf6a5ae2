import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { CallFailed, call, findTarget, type GlobalOptions, openCall, type Target } from '../api.ts';
import { readEvents } from '../event-lines.ts';
import { plain } from '../output.ts';
import { projectPath } from '../pages.ts';

interface LogOptions {
  follow?: true;
  errors?: true;
  path?: string;
  limit: string;
}

interface Call {
  at: string;
  status: number;
  method: string;
  path: string;
  ms: number;
  caller: string;
  userId: string | null;
  keyId: string | null;
  code: string | null;
  error: string | null;
  hint: string | null;
  fields: string[] | null;
  skipped: number;
}

interface Gap {
  since: string;
  at: string;
  calls: number;
}

const again = { firstMs: 1000, lastMs: 30_000 };

const printCall = (given: Call) => {
  const { at, status, method, path, ms, caller, userId, keyId, code, error, hint } = given;
  const { fields, skipped } = given;
  const who = userId ?? keyId;
  const by = who === null ? caller : `${caller}:${who}`;
  const lines = [`${at} ${status} ${method} ${path} ${ms} ms ${by}`];
  if (skipped > 0) lines.unshift(`  … ${skipped} calls more, which were too many to be kept`);
  if (error !== null) lines.push(`  ${code}: ${error}`);
  if (hint !== null) lines.push(`  ${hint}`);
  if (fields !== null && fields.length > 0) lines.push(`  fields: ${fields.join(', ')}`);
  for (const line of lines) process.stdout.write(`${plain(line)}\n`);
};

const printGap = ({ since, at, calls }: Gap) =>
  process.stdout.write(
    plain(`  … ${calls} calls are missing, from ${since} to ${at}`).concat('\n'),
  );

const print = (isJson: boolean, type: string, item: Call | Gap) => {
  if (isJson) process.stdout.write(`${JSON.stringify({ type, ...item })}\n`);
  else if (type === 'gap') printGap(item as Gap);
  else printCall(item as Call);
};

const toQuery = ({ errors, path }: LogOptions, more: Record<string, string>) =>
  new URLSearchParams({
    ...(errors && { status: 'failed' }),
    ...(path !== undefined && { path }),
    ...more,
  });

/** Until it is interrupted; a stream that ends is opened again where it ended. @throws CallFailed */
const follow = async (
  target: Target,
  path: string,
  onEvent: (event: string, data: string) => void,
): Promise<never> => {
  let lastId: string | undefined;
  let waitMs = again.firstMs;
  for (;;) {
    try {
      const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
      const { body } = await openCall(target, 'GET', path, undefined, headers);
      for await (const { event, id, data } of readEvents(body ?? new ReadableStream())) {
        waitMs = again.firstMs;
        lastId = id ?? lastId;
        onEvent(event, data);
      }
    } catch (error) {
      const mayPass = error instanceof CallFailed ? error.retryAfterSeconds !== undefined : true;
      if (!mayPass) throw error;
    }
    await pause(waitMs);
    waitMs = Math.min(2 * waitMs, again.lastMs);
  }
};

export const addLogs = (program: Command): void => {
  program
    .command('logs <project>')
    .description('The last calls of a project, oldest first: who called what, and what failed why')
    .option('--follow', 'and those that come, until Ctrl-C')
    .option('--errors', 'only those that failed')
    .option('--path <part>', 'only those with this in their path, such as /db/orders')
    .option('--limit <count>', 'how many of those that were', '50')
    .action(async (project: string, options: LogOptions, command: Command) => {
      const target = await findTarget(command);
      const isJson = command.optsWithGlobals<GlobalOptions>().json === true;
      const path = projectPath(project, '/requests');
      const list = `${path}?${toQuery(options, { limit: options.limit })}`;
      const { items } = await call<{ items: (Call & { type: string })[] }>(target, 'GET', list);
      for (const { type, ...item } of items.reverse()) print(isJson, type, item);
      if (!options.follow) return;
      await follow(target, `${path}/stream?${toQuery(options, {})}`, (event, data) => {
        if (event === 'call' || event === 'gap') print(isJson, event, JSON.parse(data));
        else if (event === 'reset') process.stderr.write('Some calls were left out here.\n');
      });
    });
};
