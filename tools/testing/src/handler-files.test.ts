import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RouteDefinition } from '@backlot/contract';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const contract = join(root, 'packages/contract/src/routes');

const isRoute = (value: unknown): value is RouteDefinition =>
  typeof value === 'object' && value !== null && 'operationId' in value && 'path' in value;

const isSource = (file: string) => /\.ts$/.test(file) && !/\.test\.ts$|(^|\/)index\.ts$/.test(file);

/** Each route with the name of the file in the contract that defines it. */
async function findRoutes(): Promise<{ route: RouteDefinition; file: string }[]> {
  const files = (await readdir(contract, { recursive: true })).filter(isSource);
  const found = await Promise.all(
    files.map(async (file) => {
      const definitions = Object.values(await import(join(contract, file)));
      return definitions.filter(isRoute).map((route) => ({ route, file: basename(file) }));
    }),
  );
  return found.flat();
}

/** Of the routes that the gateway answers, by the file in the contract. */
const gatewayFolders: Readonly<Record<string, string>> = {
  'mcp.ts': 'gateway/src/mcp',
  'event-tickets.ts': 'gateway/src/tickets',
  'health.ts': 'gateway/src/health',
};

const handlersFolder = ({ service, answeredBy }: RouteDefinition, file: string): string =>
  (answeredBy && gatewayFolders[file]) ?? `services/${service}/src/routes`;

it('a handler stands in the file that is named as the one in the contract', async () => {
  const routes = await findRoutes();
  const misplaced: string[] = [];
  for (const { route, file } of routes) {
    const folder = handlersFolder(route, file);
    const names = new RegExp(`\\b\\w+Routes\\.${route.operationId}\\b`);
    const sources = (await readdir(join(root, folder))).filter(isSource);
    for (const source of sources) {
      const isNamed = names.test(await readFile(join(root, folder, source), 'utf8'));
      if (isNamed !== (source === file))
        misplaced.push(`${route.operationId}: ${folder}/${source}, in the contract ${file}`);
    }
    if (!sources.includes(file)) misplaced.push(`${route.operationId}: no ${folder}/${file}`);
  }
  expect(misplaced).toEqual([]);
  expect(routes.length).toBeGreaterThan(100);
});
