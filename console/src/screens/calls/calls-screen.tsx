import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { ApiCall } from '../../parts/api-call.tsx';
import { useCommands } from '../../parts/commands.ts';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { CallFilters } from './call-filters.tsx';
import { isOfApp, type LogItem } from './call-item.ts';
import { CallRows } from './call-rows.tsx';
import { type CallFilter, useLiveCalls } from './live-calls.ts';
import './calls.css';

const from = '/signed-in/projects/$projectId/calls';

const firstCall = (projectId: string) =>
  `curl -s ${location.origin}/api/runtime/${projectId}/db/notes --json '{"data":{"text":"Hello"}}'`;

/** Each call of the project as it happens. */
export const CallsScreen = () => {
  const { projectId } = useParams({ from });
  const { open, control, ...filter } = useSearch({ from });
  const navigate = useNavigate({ from: '/projects/$projectId/calls' });
  const [isPaused, setPaused] = useState(false);
  const calls = useLiveCalls(projectId, filter, isPaused);
  const isFiltered = Object.keys(filter).length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another project begins anew
  useEffect(() => setPaused(false), [projectId]);
  useCommands(
    useMemo(
      () => [
        { group: 'Live calls', label: 'Pause or go on', run: () => setPaused((was) => !was) },
        {
          group: 'Live calls',
          label: 'Show what fails',
          run: () => void navigate({ search: { status: 'failed' } }),
        },
      ],
      [navigate],
    ),
  );
  const setFilter = (next: CallFilter) =>
    void navigate({ search: { ...next, ...(control && { control }) }, replace: true });
  const setControl = (isShown: boolean) =>
    void navigate({ search: { ...filter, ...(isShown && { control: true }) }, replace: true });
  const setOpen = useCallback(
    (requestId: string | undefined) =>
      void navigate({
        search: ({ open: _, ...others }) => ({
          ...others,
          ...(requestId !== undefined && { open: requestId }),
        }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const toShown = (items: readonly LogItem[]) => (control ? items : items.filter(isOfApp));
  const waiting = toShown(calls.waiting).length;
  return (
    <Screen
      title="Live calls"
      says="What your app calls, as it happens: the last 10,000 calls of three days. Values of bodies and queries are never kept."
      actions={
        <>
          <LiveState isLive={calls.isLive} isPaused={isPaused} />
          <ApiCall
            name="listRequests"
            input={{ params: { projectId }, query: { ...filter, limit: 100 } }}
          />
          <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Go on' : 'Pause'}
          </button>
        </>
      }
    >
      <CallFilters filter={filter} onChange={setFilter}>
        <label className="check">
          <input
            type="checkbox"
            checked={control === true}
            onChange={({ target }) => setControl(target.checked)}
          />
          Control plane too
        </label>
      </CallFilters>
      {isPaused && waiting > 0 && (
        <button type="button" className="link waiting-calls" onClick={() => setPaused(false)}>
          Show {countWords(waiting, 'call')} that came meanwhile
        </button>
      )}
      <Listed
        pages={{ ...calls, items: calls.items && toShown(calls.items) }}
        empty={
          isFiltered ? (
            <Empty
              title="No such calls"
              action={
                <button type="button" onClick={() => setFilter({})}>
                  Show all calls
                </button>
              }
            >
              None of the kept calls is like this. New ones show here as they come.
            </Empty>
          ) : (
            <Empty title="No calls yet" snippet={firstCall(projectId)}>
              Call your project, from your app or by this line: it shows here at once.
            </Empty>
          )
        }
      >
        {(items) => <CallRows projectId={projectId} items={items} open={open} onOpen={setOpen} />}
      </Listed>
    </Screen>
  );
};

const LiveState = ({ isLive, isPaused }: { isLive: boolean; isPaused: boolean }) => {
  const state = isPaused ? 'paused' : isLive ? 'live' : 'connecting…';
  return (
    <span className={`badge ${isLive && !isPaused ? 'good' : ''}`} role="status">
      {state}
    </span>
  );
};
