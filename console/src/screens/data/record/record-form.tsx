import { Tabs } from '@base-ui/react/tabs';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type KeyboardEvent, lazy, Suspense } from 'react';
import { useWhyNot } from '../../../api/roles.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { CopyButton } from '../../../parts/snippet.tsx';
import { Time } from '../../../parts/words/time.tsx';
import type { CollectionSearch, RecordTab } from '../collection/address.ts';
import type { Column } from '../grid/columns.ts';
import { FieldsForm } from './fields-form.tsx';
import { HistoryTab } from './history-tab.tsx';
import type { StoredRecord, Versioned } from './place.ts';
import { problemsByField } from './record-json.ts';
import { useDraft } from './use-draft.ts';
import { type SaveProps, useSave } from './use-save.ts';

const JsonEditor = lazy(() => import('../../../parts/json-editor/json-editor.tsx'));

export interface RecordFormProps extends SaveProps {
  columns: readonly Column[];
  tab: RecordTab;
  /** Undefined of a new one. */
  loaded: Versioned | undefined;
  onTab(tab: RecordTab): void;
}

const tabNames: Readonly<Record<RecordTab, string>> = {
  fields: 'Fields',
  json: 'JSON',
  history: 'History',
};

const askBeforeLeaving = () =>
  confirm({
    title: 'Leave without saving?',
    says: 'What you have changed in this record is not saved yet.',
    action: 'Leave without saving',
    otherwise: 'Stay',
    isDangerous: true,
  });

const isSaveKey = ({ key, ctrlKey, metaKey, defaultPrevented }: KeyboardEvent) =>
  (key === 'Enter' || key === 's') && (ctrlKey || metaKey) && !defaultPrevented;

const RecordFacts = ({ record }: { record: StoredRecord }) => (
  <dl className="facts record-facts">
    <dt>id</dt>
    <dd className="row">
      <span className="mono">{record.id}</span> <CopyButton text={record.id} />
    </dd>
    <dt>ownerId</dt>
    <dd className="mono">{String(record.ownerId ?? 'nobody')}</dd>
    <dt>createdAt</dt>
    <dd>
      <Time at={record.createdAt as string} />
    </dd>
    <dt>updatedAt</dt>
    <dd>
      <Time at={record.updatedAt as string} />
    </dd>
  </dl>
);

/** The fields of a record, all of it as JSON, and its past. */
export const RecordForm = (props: RecordFormProps) => {
  const { place, columns, as, tab, loaded, onTab, onSaved } = props;
  const why = useWhyNot();
  const refusal = why(loaded ? 'updateRecord' : 'createRecord');
  const isReadOnly = as !== undefined || refusal !== undefined;
  const draft = useDraft(loaded);
  const { base, isChanged } = draft;
  const { save, error, setError, isSaving, isSaved, isDone } = useSave(draft, props);
  const queries = useQueryClient();

  useBlocker({
    disabled: !isChanged,
    enableBeforeUnload: isChanged,
    async shouldBlockFn({ current, next }) {
      const isHere =
        next.pathname === current.pathname && (next.search as CollectionSearch).record === place.id;
      return isHere || isDone.current ? false : !(await askBeforeLeaving());
    },
  });

  const openTab = (next: RecordTab) => {
    if (draft.isNoJson && next !== 'json')
      return setError(new Error('What stands here is no JSON yet. Mend it, or discard it.'));
    onTab(next);
  };
  const discard = async () => {
    const isSure = await confirm({
      title: 'Discard what you have changed here?',
      says: 'The record stays as it was saved last.',
      action: 'Discard changes',
      isDangerous: true,
    });
    if (!isSure) return;
    setError(null);
    draft.discard();
  };
  const tabs = (Object.keys(tabNames) as RecordTab[]).filter((name) => base || name !== 'history');
  const shownTab = base || tab !== 'history' ? tab : 'fields';
  return (
    <form
      className="record-form"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (!isSaveKey(event)) return;
        event.preventDefault();
        void save();
      }}
    >
      <Tabs.Root
        className="panel-tabs"
        value={shownTab}
        onValueChange={(next) => openTab(next as RecordTab)}
      >
        <Tabs.List className="tabs">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {tabNames[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel className="panel-body" value={shownTab}>
          {shownTab === 'fields' && (
            <div className="stack" key={draft.key}>
              <FieldsForm
                columns={columns}
                data={draft.data}
                isReadOnly={isReadOnly}
                problems={problemsByField(error)}
                onChange={draft.setData}
                onProblem={draft.setProblem}
              />
              {base && <RecordFacts record={base.record} />}
            </div>
          )}
          {shownTab === 'json' && (
            <Suspense fallback={<Loading />}>
              <JsonEditor
                key={draft.key}
                text={draft.json}
                label="The record as JSON"
                isReadOnly={isReadOnly}
                onSave={() => void save()}
                onChange={draft.setJson}
              />
            </Suspense>
          )}
          {shownTab === 'history' && base && (
            <HistoryTab
              place={place}
              isReadOnly={isReadOnly}
              onRestored={(restored) => {
                void queries.invalidateQueries({ queryKey: ['getRecord', place] });
                onSaved(restored);
              }}
            />
          )}
        </Tabs.Panel>
      </Tabs.Root>
      {shownTab !== 'history' && refusal && as === undefined && (
        <footer className="panel-foot quiet-text">{refusal}</footer>
      )}
      {shownTab !== 'history' && !isReadOnly && (
        <footer className="panel-foot">
          <Problem error={error} />
          <div className="row end">
            <output className="quiet-text">{isSaved && !isChanged && 'Saved'}</output>
            {isChanged && (
              <button type="button" onClick={() => void discard()}>
                Discard
              </button>
            )}
            <button
              type="submit"
              className="primary"
              disabled={isSaving || (base !== undefined && !isChanged)}
              title="Ctrl Enter"
            >
              {base ? 'Save' : 'Create record'}
            </button>
          </div>
        </footer>
      )}
    </form>
  );
};
