import { describe, expect, it } from '@jest/globals';
import { applyChanges, etagFor, findChanges, normalize, undo } from './plan.ts';

const current = normalize({
  settings: { aiModel: 'small', createCollections: false },
  collections: {
    todos: { access: 'private', indexes: [], unique: ['b', 'a'], search: false },
    notes: { access: 'shared' },
  },
});

describe('a plan', () => {
  it('sees no change in another order, and in defaults that are said', () => {
    const wanted = normalize({
      collections: {
        notes: { search: false, access: 'shared', indexes: [], unique: [] },
        todos: { unique: ['a', 'b', 'a'], access: 'private' },
      },
      settings: { createCollections: false, aiModel: 'small' },
    });
    expect(findChanges(current, wanted)).toEqual([]);
    expect(etagFor(wanted)).toBe(etagFor(current));
  });

  it('leaves sections alone that the file leaves out', () => {
    expect(findChanges(current, normalize({}))).toEqual([]);
    const changes = findChanges(current, normalize({ settings: {} }));
    expect(changes.map(({ section, name, to }) => [section, name, to])).toEqual([
      ['settings', 'aiModel', null],
      ['settings', 'createCollections', null],
    ]);
  });

  it('makes and unmakes: what is undone is as it was', () => {
    const wanted = normalize({
      settings: { aiModel: 'large', maxUploadBytes: 1 },
      collections: { todos: { access: 'members', search: ['b', 'a'] }, tags: { access: 'locked' } },
    });
    const changes = findChanges(current, wanted);
    const next = applyChanges(current, changes);
    expect(next).toEqual(wanted);
    expect(etagFor(next)).not.toBe(etagFor(current));
    expect(applyChanges(next, undo(changes))).toEqual(current);
  });

  it('tells rules apart by the order of their words, and not by that of their keys', () => {
    const rules = { read: ['owner', 'users'], create: ['users'], change: ['owner'] };
    const before = normalize({ collections: { a: { access: rules } } });
    const sameAs = (access: unknown) =>
      findChanges(before, normalize({ collections: { a: { access } } })).length === 0;
    expect(sameAs({ change: ['owner'], create: ['users'], read: ['owner', 'users'] })).toBe(true);
    expect(sameAs({ ...rules, read: ['users', 'owner'] })).toBe(false);
  });
});
