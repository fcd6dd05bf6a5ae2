import { Link, useNavigate } from '@tanstack/react-router';
import { useCall } from '../../../api/queries.ts';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { accessWords } from '../../../parts/words/access-words.ts';
import { CollectionMenu } from '../collection-menu.tsx';
import '../data.css';
import { IndexesView } from '../indexes/indexes-view.tsx';
import { TransferView } from '../transfer/transfer-view.tsx';
import { type Panel, useAddress } from './address.ts';
import { RecordsView } from './records-view.tsx';
import { TrashView } from './trash-view.tsx';

const views: readonly (readonly [panel: Panel | undefined, label: string])[] = [
  [undefined, 'Records'],
  ['settings', 'Indexes'],
  ['transfer', 'Import and export'],
  ['trash', 'Trash'],
];

/** One collection: its records, and what is set of it. */
export const CollectionScreen = () => {
  const { projectId, collection: name, search } = useAddress();
  const navigate = useNavigate();
  const { data, error, refetch } = useCall(
    'listCollections',
    { params: { projectId } },
    // An index that is being made is watched.
    search.panel === 'settings' ? { everyMs: 3000 } : {},
  );
  // One that is not there yet is made by its first record.
  const collection = data?.items.find((item) => item.name === name);
  const toList = () => void navigate({ to: '/projects/$projectId/data', params: { projectId } });
  const open = (next: string) =>
    void navigate({
      to: '/projects/$projectId/data/$collection',
      params: { projectId, collection: next },
    });
  return (
    <Screen
      title={name}
      isFull
      says={collection && accessWords(collection.access)}
      actions={
        <>
          {data && data.items.length > 1 && (
            <select
              aria-label="Collection"
              className="switch"
              value={name}
              onChange={({ target }) => open(target.value)}
            >
              {!collection && <option>{name}</option>}
              {data.items.map((item) => (
                <option key={item.name}>{item.name}</option>
              ))}
            </select>
          )}
          {collection && (
            <CollectionMenu
              projectId={projectId}
              collection={collection}
              onRenamed={open}
              onDeleted={toList}
            />
          )}
        </>
      }
    >
      <div className="collection">
        <nav className="tabs" aria-label="Of the collection">
          <Link
            to="/projects/$projectId/data"
            params={{ projectId }}
            activeOptions={{ exact: true }}
          >
            ← All collections
          </Link>
          {views.map(([panel, label]) => (
            <Link
              key={label}
              to="/projects/$projectId/data/$collection"
              params={{ projectId, collection: name }}
              // To itself it leads with all that the address says, so that it is the one that is open.
              search={search.panel === panel ? search : panel ? { panel } : {}}
              activeOptions={{ exact: true, includeSearch: true }}
            >
              {label}
            </Link>
          ))}
        </nav>
        {!data ? (
          <div className="inside">
            {error ? <Problem error={error} again={() => void refetch()} /> : <Loading />}
          </div>
        ) : search.panel === 'settings' ? (
          <IndexesView projectId={projectId} name={name} collection={collection} />
        ) : search.panel === 'trash' ? (
          <TrashView projectId={projectId} name={name} />
        ) : search.panel === 'transfer' ? (
          <TransferView projectId={projectId} name={name} collection={collection} />
        ) : (
          <RecordsView key={name} collection={collection} />
        )}
      </div>
    </Screen>
  );
};
