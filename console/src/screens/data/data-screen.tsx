import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState, useSyncExternalStore } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useCall } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { useCommands } from '../../parts/commands.ts';
import { Empty } from '../../parts/lists/empty.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { SearchBox } from '../../parts/lists/search-box.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Screen } from '../../parts/screen.tsx';
import { accessWords } from '../../parts/words/access-words.ts';
import { countWords, formatBytes, formatCount } from '../../parts/words/numbers.ts';
import { CollectionMenu } from './collection-menu.tsx';
import { CreateCollection } from './create-collection.tsx';
import { DeletedCollections } from './deleted-collections.tsx';
import { findImport, subscribeToImports } from './transfer/import-job.ts';
import './data.css';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Takes } from '../../parts/takes.tsx';

type Collection = Item<'listCollections'>;

const firstRecord = (
  projectId: string,
) => `import { createClient } from '${location.origin}/sdk.js';

const client = createClient('${location.origin}/api/runtime/${projectId}');
await client.db('todos').create({ title: 'Buy milk', done: false });`;

const CollectionRow = ({
  collection,
  projectId,
}: {
  collection: Collection;
  projectId: string;
}) => {
  const { name, count, sizeBytes, access, advice } = collection;
  const job = useSyncExternalStore(subscribeToImports, () => findImport(projectId, name));
  return (
    <tr>
      <th scope="row">
        <Link
          to="/projects/$projectId/data/$collection"
          params={{ projectId, collection: name }}
          className="mono"
        >
          {name}
        </Link>{' '}
        {job && job.state !== 'done' && (
          <Link
            to="/projects/$projectId/data/$collection"
            params={{ projectId, collection: name }}
            search={{ panel: 'transfer' }}
            className="badge accent"
          >
            {job.state === 'running' ? 'import under way' : 'import not finished'}
          </Link>
        )}
      </th>
      <td className="number">{formatCount(count)}</td>
      <td className="number">{formatBytes(sizeBytes)}</td>
      <td className="sentence">
        {accessWords(access)} {advice && <span className="badge warn">advice</span>}
      </td>
      <td>
        <CollectionMenu projectId={projectId} collection={collection} />
      </td>
    </tr>
  );
};

/** The collections of a project. */
export const DataScreen = () => {
  const { projectId } = useParams({ from: '/signed-in/projects/$projectId/data' });
  const [search, setSearch] = useState('');
  const [isCreating, setCreating] = useState(false);
  const navigate = useNavigate();
  const input = { params: { projectId } };
  const { data, error, refetch } = useCall('listCollections', input);
  useCommands(
    useMemo(
      () => [{ group: 'Data', label: 'Create a collection', run: () => setCreating(true) }],
      [],
    ),
  );
  const create = (
    <Takes name="setCollectionAccess">
      <button type="button" className="primary" onClick={() => setCreating(true)}>
        Create collection
      </button>
    </Takes>
  );
  const found = data?.items.filter(({ name }) =>
    name.toLowerCase().includes(search.trim().toLowerCase()),
  );
  return (
    <Screen
      title="Data"
      says={
        data &&
        data.items.length > 0 && (
          <>
            {countWords(data.totalRecords, 'record')} of {formatCount(data.quotaRecords)},{' '}
            {formatBytes(data.totalBytes)} of {formatBytes(data.quotaBytes)}.
          </>
        )
      }
      actions={
        <>
          <ApiCall name="listCollections" input={input} />
          {data && data.items.length > 0 && create}
        </>
      }
    >
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading />}
      {data?.items.length === 0 && (
        <Empty
          title="Create your first collection"
          snippet={firstRecord(projectId)}
          action={create}
        >
          A collection holds the records of one kind, such as todos or orders. Make it here, or let
          your app’s first record make it.
        </Empty>
      )}
      {data && found && data.items.length > 0 && (
        <>
          {data.items.length > 5 && (
            <SearchBox label="Search collections" value={search} onChange={setSearch} />
          )}
          <WideTable
            label="Collections"
            columns={[
              'Name',
              { label: 'Records', isNumber: true },
              { label: 'Size', isNumber: true },
              'Who may do what',
              { label: 'Actions', isHidden: true },
            ]}
          >
            {found.map((collection) => (
              <CollectionRow key={collection.name} collection={collection} projectId={projectId} />
            ))}
          </WideTable>
        </>
      )}
      {data && <DeletedCollections projectId={projectId} />}
      {isCreating && (
        <CreateCollection
          projectId={projectId}
          onClose={() => setCreating(false)}
          onCreated={(collection) =>
            void navigate({
              to: '/projects/$projectId/data/$collection',
              params: { projectId, collection },
            })
          }
        />
      )}
    </Screen>
  );
};
