import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultBodyLimitBytes, type RouteDefinition, routes } from '@backlot/contract';
import { findFreePort } from '@backlot/local-servers';
import { apiAt } from '@backlot/testing/platform-api';
import { z } from 'zod';
import { fetchFrom, newAddresses } from '../neighbours/addresses.ts';
import { startPlatform } from '../platform.ts';
import { liftLimits } from '../prepare.ts';
import { type HostileInput, hostileJson, hostileTexts } from './hostile-inputs.ts';

const firstPort = 18_600;
/** Of a path or a query; all of a head may have 32 KB. */
const headBytes = 8 * 1024;
const callsOfAddress = 20;
const shownCalls = 25;
/** What takes less is no finding, whatever its ratio. */
const leastMs = 30;

interface Request {
  path: string;
  body?: string;
}

/** A place of a route where a caller can put something. */
interface Place {
  route: RouteDefinition;
  name: string;
  inputs: readonly HostileInput[];
  bytes: number;
  put(text: string): Request;
}

const keysOf = (schema: z.ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

const placesOf = (route: RouteDefinition, projectId: string): Place[] => {
  const plane = route.plane === 'runtime' ? `/api/runtime/${projectId}` : '/api/platform';
  const names = [...route.path.matchAll(/:(\w+)/g)].flatMap(([, name]) => name ?? []);
  const pathWith = (given: Record<string, string>) =>
    plane +
    route.path.replace(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(given[name] ?? (name === 'projectId' ? projectId : 'things')),
    );
  const bytes = (route.bodyLimitBytes ?? defaultBodyLimitBytes) * 0.95;
  const inHead = { route, inputs: hostileTexts, bytes: headBytes };
  const inBody = { route, inputs: hostileJson, bytes };
  const hasBody = route.body !== undefined && route.takes === undefined;
  const body = (json: string) => ({ path: pathWith({}), body: json });
  return [
    ...names.map((name) => ({
      ...inHead,
      name: `:${name}`,
      put: (text: string) => ({ path: pathWith({ [name]: text }) }),
    })),
    ...keysOf(route.query).map((name) => ({
      ...inHead,
      name: `?${name}`,
      put: (text: string) => ({ path: `${pathWith({})}?${new URLSearchParams({ [name]: text })}` }),
    })),
    ...(hasBody ? keysOf(route.body) : []).map((name) => ({
      ...inBody,
      name,
      put: (json: string) => body(`{${JSON.stringify(name)}:${json}}`),
    })),
    ...(hasBody ? [{ ...inBody, name: 'body', put: body }] : []),
    ...(hasBody && keysOf(route.body).includes('data')
      ? [{ ...inBody, name: 'data.a', put: (json: string) => body(`{"data":{"a":${json}}}`) }]
      : []),
    ...(hasBody && keysOf(route.body).includes('create')
      ? [
          {
            ...inBody,
            name: 'create.data.a',
            put: (json: string) => body(`{"create":[{"data":{"a":${json}}}]}`),
          },
        ]
      : []),
  ];
};

/** Of all threads of a process; Linux alone tells it. */
const cpuMs = async (pid: number): Promise<number> => {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = threads.map(async (thread) => {
    const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').catch(() => '0');
    return Number(text.split(' ')[0]) / 1e6;
  });
  return (await Promise.all(times)).reduce((sum, time) => sum + time, 0);
};

interface Measured {
  call: string;
  bytes: number;
  status: number;
  ms: number;
  /** To as many bytes of letters at the same place. */
  ratio: number;
}

/**
 * `pnpm bench calls [text]`: what single calls cost the process of `pnpm dev` that are made to cost much: at every place
 * of every route of the contract as many bytes as it takes, of letters and of what parsers have been slow with.
 *
 * @param args routes by a part of `METHOD /path`; all where none is named
 */
export const benchCalls = async ([part = '']: readonly string[]): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  const port = await findFreePort(firstPort);
  const { program } = await startPlatform(port, folder, '', {
    settings: { BACKLOT_OWNER_VERIFICATION: 'off', BACKLOT_LOG_LEVEL: 'silent' },
  });
  try {
    const origin = `http://localhost:${port}`;
    const account = { email: `${randomUUID()}@example.org`, password: 'a good long password' };
    const owner = await apiAt(`${origin}/api/runtime/platform`)('POST', '/auth/signup', {
      body: account,
    });
    const project = await apiAt(`${origin}/api/platform`)('POST', '/projects', {
      token: owner.body.token,
      body: { name: 'Calls' },
    });
    const projectId: string = project.body.id;
    for (const id of [projectId, 'platform']) await liftLimits(origin, id);
    const user = await apiAt(`${origin}/api/runtime/${projectId}`)('POST', '/auth/signup', {
      body: account,
    });
    const tokens = { runtime: user.body.token, platform: owner.body.token };

    let calls = 0;
    let fetchAnew = fetch;
    const send = async ({ route }: Place, { path, body }: Request) => {
      if (calls % callsOfAddress === 0) fetchAnew = fetchFrom(newAddresses(origin, 1)[0]);
      calls += 1;
      const before = await cpuMs(program.pid);
      const response = await fetchAnew(origin + path, {
        method: route.method,
        headers: {
          authorization: `Bearer ${tokens[route.plane]}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
        redirect: 'manual',
      });
      await response.arrayBuffer();
      return { status: response.status, ms: (await cpuMs(program.pid)) - before };
    };

    const all: Measured[] = [];
    const chosen = routes.filter(({ method, path }) => `${method} ${path}`.includes(part));
    for (const route of chosen)
      for (const place of placesOf(route, projectId)) {
        const [letters, ...inputs] = place.inputs;
        if (!letters) continue;
        const harmless = await send(place, place.put(letters.make(place.bytes)));
        for (const { name, make } of inputs) {
          const text = make(place.bytes);
          const { status, ms } = await send(place, place.put(text));
          const call = `${route.method} ${route.path} ${place.name}: ${name}`;
          all.push({ call, bytes: text.length, status, ms, ratio: ms / Math.max(1, harmless.ms) });
        }
      }
    const show = ({ call, bytes, status, ms, ratio }: Measured) =>
      console.log(
        `${ms.toFixed(0).padStart(6)} ms ${ratio.toFixed(1).padStart(6)}x  ${status}  ${(bytes / 1000).toFixed(0).padStart(5)} KB  ${call}`,
      );
    console.log(`${all.length} calls. CPU, times that of letters, status, size:`);
    all
      .filter(({ ms }) => ms >= leastMs)
      .sort((one, other) => other.ms - one.ms)
      .slice(0, shownCalls)
      .forEach(show);
    const failed = all.filter(({ status }) => status >= 500);
    console.log(`${failed.length} answers from 500 on`);
    failed.forEach(show);
  } finally {
    await program.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
