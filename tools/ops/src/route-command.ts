import { createReadStream } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CallFailed, openCall } from '@backlot/cli/api';
import { callTimeoutMs, type RouteDefinition, services } from '@backlot/contract';
import type { Command } from 'commander';
import { operatorTarget } from './operator-target.ts';
import { printJson } from './output.ts';
import { addFields, type Field, fieldsOf, nothing, toKebab } from './route-fields.ts';

/** Of those that an operator may call, pages are for browsers. */
export const isCommand = ({ callers, answers }: RouteDefinition): boolean =>
  callers.includes('operator') && answers !== 'html';

type Given = Record<string, unknown>;

/** A project's archive takes as long as it is large. */
const longestUploadMs = 24 * 60 * 60_000;
const stdin = '-';

const readInput = async (route: RouteDefinition, file: string) => {
  if (file !== stdin)
    await access(file).catch(() => {
      throw new CallFailed(`${file} can not be read.`);
    });
  const source = file === stdin ? process.stdin : createReadStream(file);
  if (route.takes === 'bytes') return Readable.toWeb(source);
  const text = file === stdin ? await source.toArray() : [await readFile(file)];
  try {
    return JSON.parse(Buffer.concat(text as Buffer[]).toString()) as unknown;
  } catch {
    throw new CallFailed(`${file === stdin ? 'What came in' : file} is no JSON.`);
  }
};

const pick = (fields: readonly Field[], place: Field['place'], given: Given): Given =>
  Object.fromEntries(
    fields
      .filter((field) => field.place === place && given[field.option] !== undefined)
      .map(({ name, option }) => [name, given[option] === nothing ? null : given[option]]),
  );

const pathFor = (route: RouteDefinition, fields: readonly Field[], given: Given): string => {
  const params = pick(fields, 'path', given);
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  const base = route.plane === 'platform' ? '/api/platform' : `/api/runtime/${given.project}`;
  const query = new URLSearchParams(pick(fields, 'query', given) as Record<string, string>);
  return `${base}${path}${query.size > 0 ? `?${query}` : ''}`;
};

const bodyFor = async (route: RouteDefinition, fields: readonly Field[], given: Given) => {
  if (!route.body) return undefined;
  const body = pick(fields, 'body', given);
  if (typeof given.input !== 'string') return route.takes === 'bytes' ? undefined : body;
  if (Object.keys(body).length > 0)
    throw new CallFailed('--input is the whole body: leave out the options that are in it.');
  return readInput(route, given.input);
};

/** JSON as people read it, everything else as it comes. */
const print = async (response: Response): Promise<void> => {
  if (!response.headers.get('content-type')?.includes('json')) {
    if (response.body)
      await pipeline(Readable.fromWeb(response.body), process.stdout, { end: false });
    return;
  }
  printJson(await response.json());
};

/** Makes the call's command: its name and options follow from the contract. */
export const addRoute = (program: Command, route: RouteDefinition): void => {
  const { operationId, method, plane, service, takes, limit, callers } = route;
  const group =
    callers.length === 1
      ? "The operator's alone"
      : plane === 'platform'
        ? services.projects.title
        : `${services[service].title}, in a project`;
  const command = program
    .command(toKebab(operationId))
    .summary(route.summary)
    .description(`${route.summary}\n${method} ${route.path}`)
    .helpGroup(`${group}:`);
  const fields = fieldsOf(route);
  if (plane === 'runtime') command.requiredOption('--project <id>', 'in whose API it is called');
  addFields(command, fields);
  if (route.body) command.option('--input <file>', 'the body from a file, or - for what comes in');
  command.action(async (given: Given) => {
    const target = operatorTarget();
    const body = await bodyFor(route, fields, given);
    const headers = { ...(takes === 'bytes' && { 'content-type': route.bodyTypes?.[0] ?? '' }) };
    const waitMs = takes === 'bytes' ? longestUploadMs : callTimeoutMs(limit);
    await print(
      await openCall(target, method, pathFor(route, fields, given), body, headers, waitMs),
    );
  });
};
