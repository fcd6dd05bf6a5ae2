import type { Item } from '../../../api/operation-types.ts';
import { useChange } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { countWords, formatCount } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';

type Collection = Item<'listCollections'>;
type Index = Collection['indexes'][number];
type MissingIndex = Collection['missingIndexes'][number];

const seconds = (ms: number) => `${formatCount(Math.round(ms / 100) / 10)} s`;

const reasonWords = ({ isPinned, reason }: Index) => {
  if (isPinned) return 'You have asked for it.';
  if (!reason) return 'It made itself.';
  return `It made itself: ${countWords(reason.scans, 'list')} looked through records for ${seconds(reason.scannedMs)} in a day.`;
};

const missingWords: Readonly<Record<MissingIndex['state'], string>> = {
  few_records: 'The collection has fewer than 2,000 records: it needs none.',
  seldom: 'It was looked for too little to be worth one.',
  waiting: 'It comes after the one that is being made.',
  no_values: 'A sample of the records has no values there that compare.',
  no_room: 'All six places are taken: take one away that is used less.',
  failed: 'The last try has failed.',
};

const progress = ({ state, progress, waitsFor }: Index) => {
  if (waitsFor === 'writes') return 'waits until writes under way have ended';
  if (waitsFor === 'turn') return 'waits for its turn';
  return progress === undefined ? state : `${state}, ${Math.floor(progress * 100)} %`;
};

interface IndexesViewProps {
  projectId: string;
  name: string;
  collection: Collection | undefined;
}

/** Which fields lists find fast, which of them made themselves, and why. */
export const IndexesView = ({ projectId, name, collection }: IndexesViewProps) => {
  const update = useChange('setCollectionAccess', {
    changes: ['listCollections', 'getCollectionShape'],
  });
  const { indexes = [], missingIndexes = [] } = collection ?? {};
  const pinned = indexes.filter(({ isPinned }) => isPinned).map(({ field }) => field);
  const set = (fields: readonly string[]) =>
    update.mutate({ params: { projectId, collection: name }, body: { indexes: [...fields] } });
  return (
    <div className="inside">
      <div className="spread">
        <p className="quiet-text">
          Lists by id and createdAt are always fast. Other fields that lists often ask for are
          indexed by themselves within minutes, from 2,000 records on, and no longer after two weeks
          without use. What you keep stays.
        </p>
        <ApiCall
          name="setCollectionAccess"
          input={{ params: { projectId, collection: name }, body: { indexes: pinned } }}
        />
      </div>
      <Problem error={update.error} />
      {indexes.length === 0 && missingIndexes.length === 0 ? (
        <Empty title="No index yet">
          Filter or sort the records by a field: when that happens often, its index makes itself,
          and stands here with the reason.
        </Empty>
      ) : (
        <Takes name="setCollectionAccess">
          <WideTable
            label="Indexes"
            columns={[
              'Field',
              'State',
              'Why',
              { label: 'Lists answered', isNumber: true },
              'Last used',
              { label: 'Actions', isHidden: true },
            ]}
          >
            {indexes.map((index) => (
              <tr key={index.field}>
                <th scope="row" className="mono">
                  {index.field}
                </th>
                <td>
                  <span className={`badge ${index.state === 'ready' ? 'good' : 'warn'}`}>
                    {progress(index)}
                  </span>
                </td>
                <td>{reasonWords(index)}</td>
                <td className="number">{formatCount(index.uses)}</td>
                <td>
                  <Time at={index.lastUsedAt} />
                </td>
                <td>
                  <button
                    type="button"
                    className="small"
                    disabled={update.isPending || index.state === 'dropping'}
                    onClick={() =>
                      set(
                        index.isPinned
                          ? pinned.filter((field) => field !== index.field)
                          : [...pinned, index.field],
                      )
                    }
                  >
                    {index.isPinned ? 'Keep no longer' : 'Keep it'}
                  </button>
                </td>
              </tr>
            ))}
            {missingIndexes.map(({ field, scans, scannedMs, state }) => (
              <tr key={field}>
                <th scope="row" className="mono">
                  {field}
                </th>
                <td>
                  <span className="badge">none</span>
                </td>
                <td>
                  {missingWords[state]} {countWords(scans, 'list')} looked through records for{' '}
                  {seconds(scannedMs)}.
                </td>
                <td className="number">0</td>
                <td />
                <td>
                  <button
                    type="button"
                    className="small"
                    disabled={update.isPending || pinned.length >= 6}
                    onClick={() => set([...pinned, field])}
                  >
                    Index it
                  </button>
                </td>
              </tr>
            ))}
          </WideTable>
        </Takes>
      )}
    </div>
  );
};
