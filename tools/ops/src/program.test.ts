import { routes } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { createProgram } from './program.ts';
import { isCommand } from './route-command.ts';
import { fieldsOf, toKebab } from './route-fields.ts';

const calls = routes.filter(isCommand);

describe('the commands of pnpm ops', () => {
  it('has one for each call that an operator may make, but pages, under a name of its own', () => {
    const names = createProgram().commands.map((command) => command.name());
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(calls.map((route) => toKebab(route.operationId))));
    expect(names).toContain('create-grant');
  });

  it('gives each parameter of a path and a query an option', () => {
    for (const route of calls) {
      const options = fieldsOf(route).map(({ place, name }) => `${place} ${name}`);
      for (const name of Object.keys(route.params?.shape ?? {}))
        expect(options).toContain(`path ${name}`);
      for (const name of Object.keys(route.query?.shape ?? {}))
        expect([route.operationId, ...options]).toContain(`query ${name}`);
    }
  });

  it('gives each key of a body an option, unless a parameter has its name', () => {
    const grant = calls.find(({ operationId }) => operationId === 'createGrant');
    expect(grant && fieldsOf(grant).map(({ flag }) => flag)).toEqual([
      'owner-id',
      'credits',
      'reason',
      'expires-at',
    ]);
  });
});
