import { lazy, Suspense, useState } from 'react';
import type { Input, Item } from '../../../api/operation-types.ts';
import { useChange } from '../../../api/queries.ts';
import { useWhyNot } from '../../../api/roles.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Takes } from '../../../parts/takes.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { useUnsaved } from '../../../parts/use-unsaved.ts';
import { countWords } from '../../../parts/words/numbers.ts';
import { SchemaReport } from './schema-report.tsx';

const JsonEditor = lazy(() => import('../../../parts/json-editor/json-editor.tsx'));

interface SchemaSectionProps {
  projectId: string;
  collection: Item<'listCollections'>;
}

type Schema = NonNullable<Input<'setCollectionAccess'>['body']['schema']>;

const toText = (schema: unknown) => (schema ? JSON.stringify(schema, null, 2) : '');

const parse = (text: string): { schema: Schema | null } | { problem: string } => {
  if (text.trim() === '') return { schema: null };
  try {
    return { schema: JSON.parse(text) as Schema };
  } catch (error) {
    return { problem: `This is no JSON: ${(error as Error).message}` };
  }
};

/** What records have to be, as JSON Schema. */
export const SchemaSection = ({ projectId, collection }: SchemaSectionProps) => {
  const { name, schema: saved } = collection;
  const params = { projectId, collection: name };
  const [text, setText] = useState(toText(saved));
  /** The editor keeps its text: it begins anew with another. */
  const [revision, setRevision] = useState(0);
  const replace = (next: unknown) => {
    setText(toText(next));
    setRevision(revision + 1);
  };
  const [isReporting, setReporting] = useState(false);
  const refusal = useWhyNot()('setCollectionAccess');
  const propose = useChange('proposeSchema');
  const save = useChange('setCollectionAccess', {
    changes: ['listCollections', 'getSchemaReport'],
  });
  const parsed = parse(text);
  const isChanged = text !== toText(saved);
  useUnsaved(isChanged);
  const set = (schema: Schema | null) => save.mutateAsync({ params, body: { schema } });
  const apply = async (schema: Schema | null) => {
    const isSure = await confirm({
      title: schema ? `Set the schema of ${name}?` : `Take the schema off ${name}?`,
      says: schema
        ? 'From then on every write has to fit it, whoever sends it. Records from before stay as they are; the report says which do not fit.'
        : 'From then on records may be anything.',
      action: schema ? 'Set schema' : 'Remove schema',
    });
    if (!isSure) return;
    await set(schema).then(
      () =>
        notify(schema ? 'The schema holds now' : 'The schema is removed', {
          undo: () => set((saved ?? null) as Schema | null).catch(notifyProblem),
        }),
      () => {},
    );
  };
  return (
    <section className="section">
      <div className="spread">
        <h2>Schema</h2>
        <div className="row">
          <Takes name="proposeSchema">
            <button
              type="button"
              disabled={propose.isPending}
              onClick={() =>
                propose.mutate(
                  { params },
                  { onSuccess: ({ schema }) => replace(schema), onError: notifyProblem },
                )
              }
            >
              {propose.isPending ? 'Looking at records…' : 'Write it from the records'}
            </button>
          </Takes>
          {saved && !isReporting && (
            <button type="button" onClick={() => setReporting(true)}>
              Check all records
            </button>
          )}
        </div>
      </div>
      {propose.data && isChanged && (
        <p className="quiet-text" role="status">
          Written from {countWords(propose.data.sampled, 'record')}, all of which fit. Look it over,
          then set it.
        </p>
      )}
      <p className="quiet-text">JSON Schema. Empty: records may be anything. {refusal}</p>
      <div className="schema-text">
        <Suspense fallback={<Loading />}>
          <JsonEditor
            key={revision}
            text={text}
            label="What records have to be"
            example='{"properties": {"title": {"type": "string"}}, "required": ["title"]}'
            isReadOnly={refusal !== undefined}
            refusal={save.error ? { root: 'schema', message: save.error.message } : undefined}
            onChange={setText}
            onSave={() => isChanged && 'schema' in parsed && void apply(parsed.schema)}
          />
        </Suspense>
      </div>
      {'problem' in parsed && <p className="problem">{parsed.problem}</p>}
      <Problem error={save.error} />
      {isChanged && (
        <div className="row end">
          <button type="button" onClick={() => replace(saved)}>
            Discard
          </button>
          <button
            type="button"
            className="primary"
            disabled={'problem' in parsed || save.isPending}
            onClick={() => 'schema' in parsed && void apply(parsed.schema)}
          >
            {'schema' in parsed && parsed.schema === null ? 'Remove schema…' : 'Set schema…'}
          </button>
        </div>
      )}
      {isReporting && <SchemaReport projectId={projectId} name={name} />}
    </section>
  );
};
