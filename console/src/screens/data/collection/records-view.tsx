import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { useCall } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { useCommands } from '../../../parts/commands.ts';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { notifyProblem } from '../../../parts/toasts.tsx';
import {
  type Column,
  fieldColumns,
  mostColumns,
  type Schema,
  withOwnColumns,
} from '../grid/columns.ts';
import type { RecordPages } from '../pages/record-pages.ts';
import { listInput, type Shown, viewAs } from '../pages/source.ts';
import { useLive } from '../pages/use-live.ts';
import { useRecordPages } from '../pages/use-pages.ts';
import type { StoredRecord } from '../record/place.ts';
import { newRecord, RecordPanel } from '../record/record-panel.tsx';
import { useAddress } from './address.ts';
import { EmptyCollection } from './empty-collection.tsx';
import { FilterColumn } from './filter-column.tsx';
import { GridPlace } from './grid-place.tsx';
import { useDeletion } from './use-deletion.ts';
import { ViewAs } from './view-as.tsx';
import { WhereBar } from './where-bar.tsx';

/** As many as `fields` of a list takes. */
const mostNamed = 50;

/** What a list is asked for where there are more fields than are shown; undefined: all. */
const narrowFields = (fields: readonly Column[], chosen: ReadonlySet<string>) => {
  if (fields.length <= mostColumns) return undefined;
  const first = fields.slice(0, mostColumns).map(({ name }) => name);
  // A comma in a name would part two of them.
  const asked = [...chosen, ...first].filter((name) => !name.includes(','));
  return ['createdAt', 'updatedAt', 'ownerId', ...new Set(asked)].slice(0, mostNamed).join(',');
};

/** The fields of the first rows, which stay while the rows are read anew. */
const useFields = (pages: RecordPages) => {
  const [fields, setFields] = useState(pages.fields);
  if (pages.fields && !fields) setFields(pages.fields);
  return fields;
};

const focusGrid = () => document.querySelector<HTMLElement>('[role="grid"]')?.focus();

/** The records of a collection as a grid, with one of them beside it. */
export const RecordsView = ({
  collection,
}: {
  collection: Item<'listCollections'> | undefined;
}) => {
  const { projectId, collection: name, search, change } = useAddress();
  const { where, sort, as, record, tab = 'fields' } = search;
  const shape = useCall('getCollectionShape', { params: { projectId, collection: name } });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [generation, setGeneration] = useState(0);
  const [filtered, setFiltered] = useState<Column | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const queries = useQueryClient();

  const [narrowed, setNarrowed] = useState<string>();
  const shown = useMemo<Shown>(
    () => ({
      projectId,
      collection: name,
      search: { where, search: search.search, sort, as },
      fields: narrowed,
    }),
    [projectId, name, where, search.search, sort, as, narrowed],
  );
  const { pages, showFormer } = useRecordPages(shown, generation);
  useSyncExternalStore(pages.subscribe, pages.readVersion);
  const schema = collection?.schema as Schema | null | undefined;
  const known = useFields(pages);
  const fields = useMemo(
    () => fieldColumns({ schema, rows: known, shape: shape.data }),
    [schema, known, shape.data],
  );
  const columns = useMemo(() => withOwnColumns(fields), [fields]);
  // With a thousand fields a page would be megabytes of what nobody sees.
  const narrow = narrowFields(fields, chosen);
  if (narrow !== undefined && narrow !== narrowed) setNarrowed(narrow);
  const live = useLive({
    projectId,
    collection: name,
    where,
    pages,
    isOn: as === undefined && search.search === undefined && collection?.history !== false,
    onChange: (id) => {
      if (id === record) void queries.invalidateQueries({ queryKey: ['getRecord'] });
    },
  });

  const readAnew = () => {
    setGeneration((count) => count + 1);
    void queries.invalidateQueries({ queryKey: ['listCollections'] });
    void queries.invalidateQueries({ queryKey: ['getCollectionShape'] });
  };
  const close = () => {
    change({ record: undefined, tab: undefined });
    setTimeout(focusGrid);
  };
  const askToDelete = useDeletion({
    projectId,
    collection: name,
    hasHistory: collection?.history !== false,
    onDone(ids) {
      setSelected(new Set());
      if (record !== undefined && ids?.includes(record)) close();
      else focusGrid();
      readAnew();
    },
    onUndo(ids) {
      for (const id of ids ?? []) live.isMine(id);
      showFormer();
    },
  });
  const openNew = () => change({ record: newRecord, tab: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address says what it opens in
  const commands = useMemo(
    () => [{ group: 'Data', label: `New record in ${name}`, run: openNew }],
    [name],
  );
  useCommands(commands);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is selected belongs to what is shown
  useEffect(() => setSelected(new Set()), [where, as, search.search]);

  const isEmptyCollection =
    (collection?.count ?? 0) === 0 && !where && search.search === undefined && as === undefined;
  const saved = (saved: StoredRecord) => {
    live.isMine(saved.id);
    pages.put(saved.id, saved);
  };
  const input = listInput({
    projectId,
    collection: name,
    search: { where, search: search.search, sort },
  });
  return (
    <div className={`data-layout ${record ? 'with-panel' : ''}`}>
      <div className="data-bar">
        <WhereBar
          search={search}
          columns={columns}
          canSearch={collection?.search?.state === 'ready'}
          onChange={(next) => change({ where: next.where, search: next.search })}
          onLeave={focusGrid}
        />
        <ViewAs projectId={projectId} as={as} onChange={(next) => change({ as: next })} />
        <ApiCall name="listRecords" input={input} headers={viewAs(as).headers} />
        {as === undefined && (
          <Takes name="createRecord">
            <button type="button" className="primary" onClick={openNew}>
              New record
            </button>
          </Takes>
        )}
        {as !== undefined && (
          <div className="callout info seen-as" role="status">
            You see what this caller would see, by the rules of the collection. Nothing can be
            changed meanwhile.
          </div>
        )}
      </div>
      {!pages.hasBegun && !pages.error && known === undefined ? (
        <div className="inside">
          <Loading lines={8} />
        </div>
      ) : (
        <GridPlace
          key={JSON.stringify([where, search.search, sort, as])}
          pages={pages}
          columns={columns}
          live={live}
          selected={selected}
          onSelected={setSelected}
          hasAllFields={narrowed === undefined}
          onShowColumn={(field) => setChosen(new Set([...chosen, field]))}
          onFilter={setFiltered}
          onDelete={(ids) => void askToDelete({ ids }).catch(notifyProblem)}
          onDeleteAll={where && (() => void askToDelete({ where }).catch(notifyProblem))}
          onReadAnew={readAnew}
          onEscape={() => {
            if (record) close();
            else setSelected(new Set());
          }}
          empty={
            isEmptyCollection ? (
              <EmptyCollection projectId={projectId} name={name} onNew={openNew} />
            ) : undefined
          }
        />
      )}
      {record && (
        <RecordPanel
          place={{ projectId, collection: name, id: record }}
          columns={fields}
          tab={tab}
          as={as}
          onTab={(next) => change({ tab: next === 'fields' ? undefined : next }, { replace: true })}
          onClose={close}
          onSaved={saved}
          onCreated={(created) => {
            live.isMine(created.id);
            change({ record: created.id, tab: undefined }, { replace: true });
            readAnew();
          }}
          onDelete={() => void askToDelete({ ids: [record] }).catch(notifyProblem)}
        />
      )}
      {filtered && (
        <FilterColumn
          column={filtered}
          where={where}
          onClose={() => setFiltered(null)}
          onChange={(next) => change({ where: next, search: undefined })}
        />
      )}
    </div>
  );
};
