import { BacklotError } from '@backlot/client';
import { readEvents } from '@backlot/client/events';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { call, send } from '../../api/call.ts';
import { itemKey, type LogItem } from './call-item.ts';

export interface CallFilter {
  /** failed, 2xx, 4xx, 5xx or one status. */
  status?: string;
  path?: string;
  method?: string;
}

interface State {
  /** The newest first; undefined until the list was read. */
  items: readonly LogItem[] | undefined;
  /** What has come while the list was paused. */
  waiting: readonly LogItem[];
  /** Of the next, older page; null where there is none. */
  cursor: string | null;
  error: Error | null;
  isLive: boolean;
  isLoadingMore: boolean;
}

type Happening =
  | { is: 'listed'; items: readonly LogItem[]; cursor: string | null }
  | { is: 'older'; items: readonly LogItem[]; cursor: string | null }
  | { is: 'came'; items: readonly LogItem[]; isPaused: boolean }
  | { is: 'resumed' | 'loading-more' | 'live' | 'away' | 'begun' }
  | { is: 'failed'; error: Error };

const pageItems = 100;
/** What the page holds at once; older ones are a click away. */
const maxItems = 1000;
const flushMs = 150;
const reconnectMs = 1000;

const merge = (newer: readonly LogItem[], older: readonly LogItem[], most: number) => {
  const byKey = new Map([...newer, ...older].map((item) => [itemKey(item), item]));
  return [...byKey.values()]
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
    .slice(0, most);
};

const begun: State = {
  items: undefined,
  waiting: [],
  cursor: null,
  error: null,
  isLive: false,
  isLoadingMore: false,
};

const after = (state: State, happening: Happening): State => {
  const { items = [], waiting } = state;
  switch (happening.is) {
    case 'begun':
      return begun;
    case 'listed':
      return {
        ...state,
        items: merge(items, happening.items, maxItems),
        cursor: happening.cursor,
        error: null,
      };
    case 'older':
      return {
        ...state,
        items: merge(items, happening.items, items.length + pageItems),
        cursor: happening.cursor,
        error: null,
        isLoadingMore: false,
      };
    case 'came':
      return happening.isPaused
        ? { ...state, waiting: merge(happening.items, waiting, maxItems) }
        : { ...state, items: merge(happening.items, items, Math.max(maxItems, items.length)) };
    case 'resumed':
      if (waiting.length === 0) return state;
      return {
        ...state,
        items: merge(waiting, items, Math.max(maxItems, items.length)),
        waiting: [],
      };
    case 'loading-more':
      return { ...state, isLoadingMore: true, error: null };
    case 'live':
      return { ...state, isLive: true, error: null };
    case 'away':
      return { ...state, isLive: false };
    case 'failed':
      return { ...state, error: happening.error, isLive: false, isLoadingMore: false };
  }
};

/** Coming back helps, unless the call is refused for what it is. */
const isLasting = (error: unknown) =>
  error instanceof BacklotError &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 429;

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Calls of the project as they happen, the newest first. */
export const useLiveCalls = (projectId: string, filter: CallFilter, isPaused: boolean) => {
  const [state, tell] = useReducer(after, begun);
  const [attempt, setAttempt] = useState(0);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  const { status, path, method } = filter;

  const read = useCallback(
    (cursor: string | null, signal?: AbortSignal) =>
      call(
        'listRequests',
        {
          params: { projectId },
          query: { status, path, method, limit: pageItems, ...(cursor !== null && { cursor }) },
        },
        signal && { signal },
      ),
    [projectId, status, path, method],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt begins anew
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let come: LogItem[] = [];
    let lastEventId: string | undefined;
    tell({ is: 'begun' });
    // Hundreds may come in a second: the page is drawn anew a few times in it.
    const timer = setInterval(() => {
      if (come.length === 0) return;
      tell({ is: 'came', items: come.slice(-maxItems), isPaused: paused.current });
      come = [];
    }, flushMs);
    const readList = async () => {
      const { items, cursor, hasMore } = await read(null, signal);
      tell({ is: 'listed', items, cursor: hasMore ? cursor : null });
    };
    const listen = async () => {
      const query = { status, path, method, lastEventId };
      const { body } = await send('streamRequests', { params: { projectId }, query }, { signal });
      if (!body) return;
      for await (const { name, id, data } of readEvents(body)) {
        if (id) lastEventId = id;
        if (name === 'call' || name === 'gap') come.push({ ...data, type: name });
        if (come.length > 2 * maxItems) come = come.slice(-maxItems);
        if (name === 'ready') tell({ is: 'live' });
        // What was there before the stream began, or is missing in it.
        if (name === 'reset' || (name === 'ready' && query.lastEventId === undefined))
          await readList();
      }
    };
    const run = async () => {
      while (!signal.aborted) {
        try {
          await listen();
        } catch (error) {
          if (signal.aborted) return;
          tell({ is: 'failed', error: error as Error });
          if (isLasting(error)) return;
        }
        if (signal.aborted) return;
        tell({ is: 'away' });
        await pause(reconnectMs, signal);
      }
    };
    void run();
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [projectId, status, path, method, read, attempt]);

  useEffect(() => {
    if (!isPaused) tell({ is: 'resumed' });
  }, [isPaused]);

  const { cursor } = state;
  const more = async () => {
    if (cursor === null) return;
    tell({ is: 'loading-more' });
    try {
      const page = await read(cursor);
      tell({ is: 'older', items: page.items, cursor: page.hasMore ? page.cursor : null });
    } catch (error) {
      tell({ is: 'failed', error: error as Error });
    }
  };
  return {
    ...state,
    hasMore: cursor !== null,
    more: () => void more(),
    again: () => setAttempt((count) => count + 1),
  };
};
