import { useState } from 'react';
import { useCall, useChange } from '../../api/queries.ts';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { CapUse } from './cap-use.tsx';

const caps = [
  { name: 'creditsPerDay', label: 'Credits a day' },
  { name: 'creditsPerMonth', label: 'Credits a month' },
] as const;
type Cap = (typeof caps)[number]['name'];
type Values = Record<Cap, number | null>;

const toText = (value: number | null) => (value === null ? '' : String(value));

interface CapsFormProps {
  values: Values;
  error: Error | null;
  isBusy: boolean;
  onSave(values: Values): void;
}

const CapsForm = ({ values, error, isBusy, onSave }: CapsFormProps) => {
  const [texts, setTexts] = useState({
    creditsPerDay: toText(values.creditsPerDay),
    creditsPerMonth: toText(values.creditsPerMonth),
  });
  const isChanged = caps.some(({ name }) => texts[name].trim() !== toText(values[name]));
  const toNumber = (text: string) => (text.trim() === '' ? null : Number(text));
  return (
    <Takes name="updateProject">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onSave({
            creditsPerDay: toNumber(texts.creditsPerDay),
            creditsPerMonth: toNumber(texts.creditsPerMonth),
          });
        }}
      >
        <div className="row caps">
          {caps.map(({ name, label }) => (
            <Field key={name} label={label}>
              {(props) => (
                <input
                  {...props}
                  type="number"
                  min={0}
                  step="any"
                  placeholder="no cap"
                  value={texts[name]}
                  onChange={({ target }) => setTexts({ ...texts, [name]: target.value })}
                />
              )}
            </Field>
          ))}
          <button type="submit" disabled={!isChanged || isBusy}>
            Save caps
          </button>
        </div>
        <Problem error={error} />
      </form>
    </Takes>
  );
};

/** What the project may spend at most, whoever calls. */
export const Caps = ({ projectId }: { projectId: string }) => {
  const params = { projectId };
  const project = useCall('getProject', { params });
  const update = useChange('updateProject', { changes: ['getProject'] });
  const settings = project.data?.settings;
  const values: Values | undefined = settings && {
    creditsPerDay: settings.creditsPerDay ?? null,
    creditsPerMonth: settings.creditsPerMonth ?? null,
  };
  const save = async (next: Values, before: Values) => {
    const set = (to: Values) => update.mutateAsync({ params, body: { settings: to } });
    await set(next);
    notify('The caps are set', { undo: () => set(before).catch(notifyProblem) });
  };
  return (
    <section className="section" aria-labelledby="caps">
      <h2 id="caps">Caps</h2>
      <p className="quiet-text">
        Priced calls past a cap are refused (402 <code>project_budget</code>), whoever makes them,
        until the day or month (UTC) is over. Free calls go on.
      </p>
      <Problem error={project.error} again={() => void project.refetch()} />
      {!values && !project.error && <Loading lines={1} />}
      {values && (
        <>
          <CapUse projectId={projectId} cap={values.creditsPerDay} of="day" />
          <CapUse projectId={projectId} cap={values.creditsPerMonth} of="month" />
        </>
      )}
      {values && (
        <CapsForm
          key={JSON.stringify(values)}
          values={values}
          error={update.error}
          isBusy={update.isPending}
          onSave={(next) => void save(next, values).catch(() => {})}
        />
      )}
    </section>
  );
};
