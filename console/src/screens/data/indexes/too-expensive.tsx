import type { BacklotError } from '@backlot/client';
import { useEffect, useRef } from 'react';
import { useCall, useChange } from '../../../api/queries.ts';
import { useWhyNot } from '../../../api/roles.ts';
import { Problem } from '../../../parts/problem.tsx';

type Where = Readonly<Record<string, unknown>>;

interface Asked {
  where?: Where;
  sort?: string;
}

interface TooExpensiveProps {
  projectId: string;
  collection: string;
  search: Asked;
  error: BacklotError;
  again(): void;
}

const mostPinned = 6;
const lookEveryMs = 2000;

const fieldsIn = (where: Where = {}): string[] =>
  Object.entries(where).flatMap(([name, value]) => {
    if (!name.startsWith('$')) return [name];
    return Array.isArray(value) ? value.flatMap((part: Where) => fieldsIn(part)) : [];
  });

/** The fields that an index could find this list by. */
const askedFields = ({ where, sort }: Asked): string[] => {
  const sorted = sort?.split(',')[0]?.replace(/^-/, '');
  const own = ['id', 'createdAt', 'updatedAt'];
  return [...new Set([...(sorted ? [sorted] : []), ...fieldsIn(where)])].filter(
    (field) => !own.includes(field),
  );
};

/** A list that reads too many records: shows the index that is on its way, or makes one, and then lists again. */
export const TooExpensive = ({
  projectId,
  collection: name,
  search,
  error,
  again,
}: TooExpensiveProps) => {
  const params = { projectId };
  const why = useWhyNot()('setCollectionAccess');
  const collections = useCall('listCollections', { params }, { everyMs: lookEveryMs });
  const update = useChange('setCollectionAccess', { changes: ['listCollections'] });
  const indexes = collections.data?.items.find((item) => item.name === name)?.indexes ?? [];
  const asked = askedFields(search);
  const building = indexes.find(
    ({ field, state }) => asked.includes(field) && state === 'building',
  );
  const ready = indexes.filter(({ field, state }) => asked.includes(field) && state === 'ready');
  const known = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (!collections.data) return;
    if (known.current !== undefined && ready.length > known.current) again();
    known.current = ready.length;
  }, [collections.data, ready.length, again]);
  if (building)
    return (
      <div className="callout info" role="status">
        <p>
          <strong>
            An index on <code>{building.field}</code> is being made
            {building.progress !== undefined && `: ${Math.floor(building.progress * 100)} %`}.
          </strong>
        </p>
        <p>
          Without it this list would look through too many records. It comes by itself once the
          index is there; you may look at other screens meanwhile.
        </p>
        <progress
          className="progress"
          aria-label={`Index on ${building.field}`}
          max={1}
          value={building.progress ?? 0}
        />
      </div>
    );
  const pinned = indexes.filter(({ isPinned }) => isPinned).map(({ field }) => field);
  const missing = asked.filter((field) => !indexes.some((index) => index.field === field));
  return (
    <div className="stack">
      <Problem error={error} again={again} />
      {missing.length > 0 && pinned.length < mostPinned && (
        <div className="stack close">
          <p className="quiet-text">
            An index finds such a list at once. It makes itself where lists ask for a field often;
            here you need not wait for that.
          </p>
          <div className="row">
            {missing.slice(0, 3).map((field) => (
              <button
                key={field}
                type="button"
                disabled={why !== undefined || update.isPending}
                title={why}
                onClick={() =>
                  update.mutate({
                    params: { ...params, collection: name },
                    body: { indexes: [...pinned, field] },
                  })
                }
              >
                Index <code>{field}</code>
              </button>
            ))}
          </div>
          <Problem error={update.error} />
        </div>
      )}
    </div>
  );
};
