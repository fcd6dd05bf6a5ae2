import type { AccessRules } from '@backlot/contract';
import { asUser } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { resolveAccess } from '../../collections/access.ts';
import { visibleDataSql } from '../../collections/field-rules.ts';
import { ada, bob } from '../../testing/test-bed.ts';
import { createKeptStatements } from './kept-statements.ts';

const group = { id: '018f0000-0000-7000-8000-000000000901', role: 'member' };

/** Rules that hide these fields from all but their owners and groups. */
const hiding = (...fields: string[]): AccessRules => ({
  read: ['users'],
  create: ['users'],
  change: ['owner'],
  fields: Object.fromEntries(fields.map((field) => [field, { read: ['owner', 'group'] }])),
});

const createBed = () => {
  const prepare = createKeptStatements('test');
  let written = 0;
  return {
    written: () => written,
    of: (rules: AccessRules, userId: string, key = 'document') => {
      const access = resolveAccess(rules, asUser(userId, { groups: [group] }));
      return prepare({ access }, key, [1, 2, 'id'], (anyone, parameters) => {
        written++;
        return `SELECT ${visibleDataSql(anyone, parameters)} AS ${key} FROM records`;
      });
    },
  };
};

it('callers of one kind share a text, each with their own values', () => {
  const bed = createBed();
  const rules = hiding('note');
  const [first, second] = [bed.of(rules, ada), bed.of(rules, bob)];
  expect(second.text).toBe(first.text);
  expect(second.name).toBe(first.name);
  expect(first.values).toEqual([1, 2, 'id', ['note'], ada, [group.id]]);
  expect(second.values).toEqual([1, 2, 'id', ['note'], bob, [group.id]]);
  expect(bed.written()).toBe(1);
});

it('rules of another tenant share text and name where they are of the same form, and no value', () => {
  const bed = createBed();
  const [first, second] = [bed.of(hiding('note'), ada), bed.of(hiding('salary'), ada)];
  expect([second.text, second.name]).toEqual([first.text, first.name]);
  expect(second.values).toEqual([1, 2, 'id', ['salary'], ada, [group.id]]);
  expect(first.text).not.toMatch(/note|salary/);
});

const preset: AccessRules = { read: ['anyone'], create: ['users'], change: ['owner'] };

it('texts beyond the number of names are planned each time, those of presets never', () => {
  const bed = createBed();
  const rules = hiding('note');
  const names = Array.from({ length: 301 }, (_, n) => bed.of(rules, ada, `key_${n}`).name);
  expect(new Set(names).size).toBe(301);
  expect(names.at(-1)).toBe('');
  expect(bed.of(preset, ada).name).toMatch(/^test_[\w-]{16}$/);
});
