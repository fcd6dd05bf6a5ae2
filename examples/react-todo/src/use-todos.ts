import { useList } from '@backlot/client/react';
import { useState } from 'react';
import { client, type Todo } from './backend.ts';

export const filters = { all: 'All', open: 'Open', done: 'Done' } as const;
export type Filter = keyof typeof filters;

const todos = client.db('todos');

/** The user's own to-dos that fit a filter, newest first, and what can be done with them. */
export const useTodos = (filter: Filter) => {
  const where = filter === 'all' ? {} : { done: filter === 'done' };
  // What is written below shows in it at once, and what others write as soon as it is there.
  const { items, error, pending } = useList(todos, { where, mine: true, limit: 200 });
  const [problem, setProblem] = useState<unknown>();

  /** @returns whether it was saved */
  const save = async (change: () => Promise<unknown>): Promise<boolean> => {
    setProblem(undefined);
    try {
      await change();
      return true;
    } catch (failure) {
      setProblem(failure);
      return false;
    }
  };

  return {
    /** Undefined while they load for the first time. */
    items,
    problem: problem ?? error,
    pending,
    forgetProblem: () => setProblem(undefined),
    add: (title: string) => save(() => todos.create({ title, done: false })),
    setDone: ({ id }: Todo, done: boolean) => save(() => todos.update(id, { data: { done } })),
    remove: ({ id }: Todo) => save(() => todos.delete(id)),
  };
};
