import { startTransition, useCallback, useEffect, useOptimistic, useRef, useState } from 'react';
import { client, type Todo } from './backend.ts';

export const filters = { all: 'All', open: 'Open', done: 'Done' } as const;
export type Filter = keyof typeof filters;

type Tick = Pick<Todo, 'id' | 'done'>;

const todos = client.db('todos');

/** The user's own to-dos that fit a filter, newest first, and what can be done with them. */
export const useTodos = (filter: Filter) => {
  /** Undefined while they load for the first time. */
  const [items, setItems] = useState<Todo[]>();
  const [problem, setProblem] = useState<unknown>();
  const [isSaving, setIsSaving] = useState(false);

  /** A tick shows at once; without an answer that says so too it goes away again. */
  const [shown, showTick] = useOptimistic(items, (before, { id, done }: Tick) =>
    before?.map((todo) => (todo.id === id ? { ...todo, done } : todo)),
  );
  const latest = useRef(0);

  const load = useCallback(async () => {
    const turn = ++latest.current;
    const isLatest = () => turn === latest.current;
    try {
      const where = filter === 'all' ? {} : { done: filter === 'done' };
      const page = await todos.list({ where, mine: true, limit: 200 });
      if (!isLatest()) return;
      setItems(page.items);
      setProblem(undefined);
    } catch (error) {
      if (isLatest()) setProblem(error);
    }
  }, [filter]);

  useEffect(() => {
    void load();
    // What was changed elsewhere shows when one comes back to this tab.
    const reload = () => void load();
    window.addEventListener('focus', reload);
    return () => window.removeEventListener('focus', reload);
  }, [load]);

  /** @returns whether it was saved */
  const save = async (change: () => Promise<unknown>): Promise<boolean> => {
    setIsSaving(true);
    try {
      await change();
      await load();
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    } finally {
      setIsSaving(false);
    }
  };

  return {
    items: shown,
    problem,
    isSaving,
    reload: load,
    add: (title: string) => save(() => todos.create({ title, done: false })),
    setDone: ({ id }: Todo, done: boolean) =>
      startTransition(async () => {
        showTick({ id, done });
        await save(() => todos.update(id, { data: { done } }));
      }),
    remove: ({ id }: Todo) => save(() => todos.delete(id)),
  };
};
