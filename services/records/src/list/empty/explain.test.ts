import { describe, expect, it } from '@jest/globals';
import { parseWhere } from '../../where/parse.ts';
import { explainEmpty } from './explain.ts';
import { knowFields } from './known-fields.ts';

const words = ['Open', 'Done', 'Late'];
const todos = Array.from({ length: 12 }, (_, n) => ({
  title: `Task ${n}`,
  priority: n,
  status: words[n % words.length],
  tags: ['home', n],
  address: { city: 'Rome' },
  steps: [{ text: 'Begin' }],
  votes: {},
}));
const explain = (where: object, documents: readonly Record<string, unknown>[] = todos) =>
  explainEmpty(parseWhere(JSON.stringify(where)), knowFields(documents));

describe('what is said of a filter that found nothing', () => {
  it.each<[object, string]>([
    [{ prio: 2 }, 'No record of the sample has "prio"; did you mean "priority"?'],
    [{ Status: 'Open' }, 'No record of the sample has "Status"; did you mean "status"?'],
    [{ city: 'Rome' }, 'No record of the sample has "city"; did you mean "address.city"?'],
    [
      { 'adress.city': 'Rome' },
      'No record of the sample has "adress.city"; did you mean "address.city"?',
    ],
    [{ created_at: 1 }, 'No record of the sample has "created_at"; did you mean "createdAt"?'],
    [
      { zzz: { $exists: true } },
      'No record of the sample has "zzz"; there are "address", "priority", "status", "steps", "tags", "title", "votes".',
    ],
    [{ status: 'open' }, '"status" is compared with its case; did you mean "Open"?'],
    [{ title: 'TASK 3' }, '"title" is compared with its case; did you mean "Task 3"?'],
    [
      { status: { $in: ['closed', 'gone'] } },
      'No record of the sample has "closed" in "status"; there are "Done", "Late", "Open".',
    ],
    [{ 'steps.0.text': 'begin' }, '"steps.text" is compared with its case; did you mean "Begin"?'],
    [{ priority: '2' }, '"priority" holds numbers, and was compared with strings.'],
    [{ title: { $gt: 5 } }, '"title" holds strings, and was compared with numbers.'],
    [
      { $or: [{ title: 'Task 3' }, { prio: 1 }] },
      'No record of the sample has "prio"; did you mean "priority"?',
    ],
  ])('%j', (where, hint) => {
    expect(explain(where)).toBe(hint);
  });

  it.each<[object]>([
    [{ title: 'Something else' }],
    [{ status: 'Open', priority: 99 }],
    [{ tags: 'home' }],
    [{ tags: 1 }],
    [{ prio: null, title: 'x' }],
    [{ prio: { $in: [null, 1] }, title: 'x' }],
    [{ prio: { $ne: 1 }, title: 'x' }],
    [{ $nor: [{ prio: 1 }], title: 'x' }],
    [{ createdAt: { $gt: '2090-01-01T00:00:00Z' } }],
    [{ 'votes.ada': true }],
    [{ ['x'.repeat(101)]: 1 }],
    [{ status: { $startsWith: 'open' } }],
    [{}],
  ])('nothing of %j, which may well be meant so', (where) => {
    expect(explain(where)).toBeUndefined();
  });

  it('nothing where not all fields are known', () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`field${n}`, n]));
    expect(explain({ other: 1 }, [wide])).toBeUndefined();
    const votes = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`user${n}`, true]));
    expect(explain({ 'votes.somebody': true }, [{ votes }])).toBeUndefined();
    expect(explain({ 'a.b.c.d.e.f.g': 1 }, [{ a: { b: { c: { d: { e: {} } } } } }])).toBe(
      undefined,
    );
  });

  it('no more than a part of a long name, and of many names', () => {
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`${'k'.repeat(80)}${n}`, 1]),
    );
    const hint = explain({ other: 1 }, [many]) ?? '';
    expect(hint.length).toBeLessThan(1000);
    expect(hint).toContain('…');
  });
});
