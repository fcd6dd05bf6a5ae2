import { readFileSync } from 'node:fs';
import {
  accessPresets,
  appEventTypes,
  givenRoles,
  keyScopes,
  memberRoles,
  neededRole,
  powers,
  presetRules,
  type RouteDefinition,
  routes,
  services,
} from '@backlot/contract';
import type { Plugin } from 'vite';

const id = 'virtual:contract';

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

const describe = ({ method, plane, path }: RouteDefinition) => `${method} ${plane} ${path}`;

/** `virtual:contract`: what the browser needs of the contract, without its schemas and zod. */
export const contractFacts = (): Plugin => ({
  name: 'contract-facts',
  resolveId: (source) => (source === id ? `\0${id}` : undefined),
  load(source) {
    if (source !== `\0${id}`) return undefined;
    const operations = Object.fromEntries(
      routes.map((route) => [route.operationId, describe(route)]),
    );
    const neededRoles = Object.fromEntries(
      routes.map((route) => [route.operationId, neededRole(route) ?? undefined]),
    );
    return `export const operations = ${JSON.stringify(operations)};
export const neededRoles = ${JSON.stringify(neededRoles)};
export const memberRoles = ${JSON.stringify(memberRoles)};
export const givenRoles = ${JSON.stringify(givenRoles)};
export const keyScopes = ${JSON.stringify(keyScopes)};
export const accessPresets = ${JSON.stringify(accessPresets)};
export const appEventTypes = ${JSON.stringify(appEventTypes)};
export const presetRules = ${JSON.stringify(presetRules)};
export const services = ${JSON.stringify(Object.keys(services))};
export const version = ${JSON.stringify(version)};
export const powers = ${JSON.stringify(powers)};`;
  },
});
