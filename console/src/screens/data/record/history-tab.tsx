import { useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { useChange, usePages } from '../../../api/queries.ts';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify } from '../../../parts/toasts.tsx';
import { Time } from '../../../parts/words/time.tsx';
import { visibleText } from '../../../parts/words/visible-text.ts';
import { type Data, dataIn, type RecordPlace, readField, type StoredRecord } from './place.ts';
import { findChanges } from './save.tsx';

type Entry = Item<'getHistory'>;

const types = { create: 'Created', update: 'Changed', delete: 'Deleted' } as const;

/** Who has made a change, as `by` of the history names them. */
export const actorWords = (by: string | null | undefined): string => {
  if (by === undefined) return '';
  if (by === null) return 'a visitor';
  const [kind, id] = by.split(':');
  if (kind === 'owner') return 'the owner';
  if (kind === 'user') return `the user ${id}`;
  if (kind === 'key') return `the key ${id}`;
  if (kind === 'member') return `the member ${id}`;
  return kind === 'platform' ? 'the platform' : by;
};

const shownFields = 20;
const shownCharacters = 120;

const Short = ({ value }: { value: unknown }) => {
  if (value === undefined) return <span className="faint-text">nothing</span>;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const cut = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
  return <bdi>{visibleText(cut)}</bdi>;
};

const Difference = ({ entry: { before, after } }: { entry: Entry }) => {
  const [old, now] = [dataIn((before ?? {}) as Data), dataIn((after ?? {}) as Data)];
  const changes = after === null ? {} : findChanges(old, now);
  const names = Object.keys(changes);
  return (
    <ul className="difference">
      {names.slice(0, shownFields).map((name) => (
        <li key={name}>
          <bdi className="mono">{name}</bdi>{' '}
          {before && (
            <>
              <Short value={readField(old, name)} /> →{' '}
            </>
          )}
          <Short value={readField(now, name)} />
        </li>
      ))}
      {names.length > shownFields && <li>and {names.length - shownFields} more fields</li>}
    </ul>
  );
};

interface HistoryTabProps {
  place: RecordPlace;
  isReadOnly: boolean;
  onRestored(record: StoredRecord): void;
}

/** What has become of a record in the last days. */
export const HistoryTab = ({ place, isReadOnly, onRestored }: HistoryTabProps) => {
  const { projectId, collection, id } = place;
  const params = { collection, id };
  const pages = usePages('getHistory', { project: projectId, params, query: { limit: 30 } });
  const [error, setError] = useState<Error | null>(null);
  const restore = useChange('restoreRecord', { changes: ['getHistory'] });
  const bringBack = async (seq: number) => {
    setError(null);
    try {
      const restored = await restore.mutateAsync({ project: projectId, params, body: { seq } });
      onRestored(restored as StoredRecord);
      notify('The record is as it was before that change');
    } catch (failure) {
      setError(failure as Error);
    }
  };
  return (
    <>
      <Problem error={error} />
      <Listed
        pages={pages}
        empty={
          <Empty title="No change is kept">
            Changes are kept for some days, unless the collection keeps none.
          </Empty>
        }
      >
        {(entries) => (
          <ol className="history">
            {entries.map((entry) => (
              <li key={`${entry.seq} ${entry.changedAt}`}>
                <div className="spread">
                  <span>
                    <strong>{types[entry.type]}</strong> <Time at={entry.changedAt} />{' '}
                    {entry.by !== undefined && (
                      <span className="quiet-text">by {actorWords(entry.by)}</span>
                    )}
                  </span>
                  {entry.seq !== null && entry.before !== null && !isReadOnly && (
                    <button
                      type="button"
                      className="small"
                      disabled={restore.isPending}
                      onClick={() => void bringBack(entry.seq as number)}
                    >
                      Restore what was before
                    </button>
                  )}
                </div>
                <Difference entry={entry} />
              </li>
            ))}
          </ol>
        )}
      </Listed>
    </>
  );
};
