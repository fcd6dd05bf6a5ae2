import { type FormEvent, useState } from 'react';
import type { Answer } from '../../../api/operation-types.ts';
import { useCall, useChange } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify } from '../../../parts/toasts.tsx';

type Limits = Answer<'getLimits'>;
type ClassName = keyof Limits;
const kinds = { perCaller: 'of one caller', perProject: 'of the project' } as const;
type Kind = keyof typeof kinds;
type Changes = Partial<Record<ClassName, Partial<Record<Kind, number | null>>>>;

interface EditorProps {
  limits: Limits;
  error: Error | null;
  isBusy: boolean;
  onSave(changes: Changes): void;
}

const Editor = ({ limits, error, isBusy, onSave }: EditorProps) => {
  /** What was typed, by class and kind. */
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const changes: Changes = {};
  for (const [name, limit] of Object.entries(limits) as [ClassName, Limits[ClassName]][])
    for (const kind of Object.keys(kinds) as Kind[]) {
      const text = texts[`${name} ${kind}`];
      if (text === undefined || text === String(limit[kind])) continue;
      changes[name] = { ...changes[name], [kind]: text.trim() === '' ? null : Number(text) };
    }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave(changes);
  };
  return (
    <form className="stack limits" onSubmit={submit}>
      <WideTable label="Limits by class" columns={['Class', 'Of one caller', 'Of the project']}>
        {(Object.keys(limits) as ClassName[]).map((name) => (
          <tr key={name}>
            <td>{name}</td>
            {(Object.keys(kinds) as Kind[]).map((kind) => (
              <td key={kind}>
                <input
                  type="number"
                  min={0}
                  max={1_000_000}
                  step={1}
                  placeholder="the default"
                  aria-label={`${name} ${kinds[kind]}`}
                  value={texts[`${name} ${kind}`] ?? String(limits[name][kind])}
                  onChange={({ target }) =>
                    setTexts({ ...texts, [`${name} ${kind}`]: target.value })
                  }
                />
              </td>
            ))}
          </tr>
        ))}
      </WideTable>
      <Problem error={error} />
      <div className="row">
        <button
          type="submit"
          className="primary"
          disabled={isBusy || Object.keys(changes).length === 0}
        >
          Set limits
        </button>
        <span className="quiet-text">An empty field restores the default.</span>
      </div>
    </form>
  );
};

/** Calls a minute that the operator allows; the owner may lower them further. */
export const LimitsForm = ({ projectId }: { projectId: string }) => {
  const params = { projectId };
  const limits = useCall('getLimits', { params }, { as: 'operator' });
  const set = useChange('setLimits', {
    as: 'operator',
    changes: ['getLimits'],
    onSuccess: () => notify('The limits are set'),
  });
  return (
    <section className="section" aria-labelledby="limits">
      <div className="spread">
        <h2 id="limits">Calls a minute</h2>
        <ApiCall name="getLimits" input={{ params }} as="operator" />
      </div>
      <p className="quiet-text">
        As they hold now. In force within seconds; the owner sees them, and can lower them further.
      </p>
      <Problem error={limits.error} again={() => void limits.refetch()} />
      {limits.isLoading && <Loading />}
      {limits.data && (
        <Editor
          key={JSON.stringify(limits.data)}
          limits={limits.data}
          error={set.error}
          isBusy={set.isPending}
          onSave={(body) => set.mutate({ params, body })}
        />
      )}
    </section>
  );
};
