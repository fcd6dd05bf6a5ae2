import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { RouteDefinition } from '../define-route.ts';
import { routes } from '../routes/index.ts';
import {
  callsOfScopes,
  fieldsKeptFromKeys,
  keptField,
  keyScopes,
  neededScope,
} from './key-scopes.ts';

const all: readonly RouteDefinition[] = routes;
const page = readFileSync(new URL('../../../../docs/key-scopes.md', import.meta.url), 'utf8');

/** A scope's cell in docs/key-scopes.md: its routes by method, without what all of a plane begin with. */
const describeCalls = (scope: keyof typeof callsOfScopes, plane: RouteDefinition['plane']) => {
  const byMethod = Map.groupBy(
    all
      .filter((route) => route.plane === plane && neededScope(route) === scope)
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    ({ method }) => method,
  );
  const short = (path: string) =>
    path.replace(/^\/projects\/:projectId/, '…').replace(/:([A-Za-z]+)/g, '<$1>');
  return [...byMethod]
    .map(
      ([method, those]) => `${method} ${those.map(({ path }) => `\`${short(path)}\``).join(', ')}`,
    )
    .join('; ');
};

describe('the scopes of keys', () => {
  it('name routes that there are, each in one scope', () => {
    const named = Object.values(callsOfScopes).flat();
    expect(named.length).toBe(new Set(named).size);
    const known = new Set(all.map(({ operationId }) => operationId));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(all.map((route) => [route.operationId, route] as const))(
    'are right for %s',
    (_operationId, route) => {
      const scope = neededScope(route);
      const opensToKeys = route.callers.includes('key') && !route.ignoresCredentials;
      expect([route.operationId, scope !== null]).toEqual([route.operationId, opensToKeys]);
      if (route.method === 'GET') expect(scope).not.toBe('write');
      else if (!route.answeredBy) expect(scope).not.toBe('read');
      if (route.price) expect(scope).toBe('write');
      if (route.plane === 'runtime') expect(scope).not.toBe('admin');
      else expect(scope).not.toBe('write');
      const isKept =
        /(?<!:collection)\/(keys|secrets|payments|credits|usage|origins|restore(?!-)|owners|on-paid)\b/.test(
          route.path,
        );
      if (route.plane === 'platform' && isKept) expect(scope).toBeNull();
      const schema = JSON.stringify(route.body && Object.keys(Object(route.body).shape ?? {}));
      const setsRoles = schema?.includes('"role"') && !route.path.startsWith('/groups');
      if (scope && setsRoles) expect(keptField(route, { role: 'x' })).toBe('role');
    },
  );

  it('keep fields from keys that there are', () => {
    for (const [operationId, fields] of Object.entries(fieldsKeptFromKeys)) {
      const { body } = all.find((route) => route.operationId === operationId) ?? {};
      for (const field of fields) {
        const wrong = field.split('.').reduceRight<unknown>((value, name) => ({ [name]: value }), {
          nothing: 'such',
        });
        const issue = body?.safeParse(wrong).error?.issues[0];
        expect([field, issue?.path.join('.').startsWith(field)]).toEqual([field, true]);
      }
    }
  });

  it.each(keyScopes)('open what docs/key-scopes.md says: %s', (scope) => {
    for (const plane of ['runtime', 'platform'] as const) {
      const calls = describeCalls(scope, plane);
      if (calls) expect(page).toContain(`| \`${scope}\` | ${plane} | ${calls} |`);
    }
  });

  it('leave to the owner the fields that the page names', () => {
    for (const field of Object.values(fieldsKeptFromKeys).flat())
      expect(page).toContain(`\`${field.replace('settings.', '')}\``);
  });
});
