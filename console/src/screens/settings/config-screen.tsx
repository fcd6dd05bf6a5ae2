import { type ChangeEvent, useState } from 'react';
import { call, send } from '../../api/call.ts';
import type { Answer, Input } from '../../api/operation-types.ts';
import { queryClient, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Field } from '../../parts/field.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Problem } from '../../parts/problem.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { notify } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { countWords } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';
import { ConfigChanges } from './config-changes.tsx';
import { SettingsFrame } from './settings-frame.tsx';

type Plan = Answer<'setConfig'>;
type Config = Input<'setConfig'>['body'];

const stateBadge = {
  done: 'good',
  undone: 'bad',
  failed: 'bad',
  applying: 'accent',
  undoing: 'warn',
} as const;

const Applications = ({ projectId }: { projectId: string }) => {
  const pages = usePages('listConfigApplications', { params: { projectId } });
  return (
    <section className="section" aria-label="Applied before">
      <h2>Applied before</h2>
      <Listed pages={pages} empty={<p className="quiet-text">No file has been applied yet.</p>}>
        {(applications) => (
          <ul className="stack close plain-list">
            {applications.map(({ id, state, by, changes, reason, startedAt }) => (
              <li key={id}>
                <details>
                  <summary>
                    <span className={`badge ${stateBadge[state]}`}>{state}</span> by {by.caller},{' '}
                    <Time at={startedAt} />: {countWords(changes.length, 'change')}
                  </summary>
                  {reason && <p>{reason}</p>}
                  <ul className="changes">
                    {changes.map((change) => (
                      <li key={change}>{change}</li>
                    ))}
                  </ul>
                </details>
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </section>
  );
};

/** All that an owner has set, as one file: taken out, changed, compared, applied. */
export const ConfigScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const [text, setText] = useState('');
  const [plan, setPlan] = useState<Plan>();
  const [error, setError] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);

  const work = async (step: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await step();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  const load = () =>
    work(async () => {
      setText(JSON.stringify(await (await send('getConfig', { params })).json(), null, 2));
      setPlan(undefined);
    });
  const readText = (): Config => {
    try {
      return JSON.parse(text) as Config;
    } catch (cause) {
      throw new Error(`This is not JSON: ${(cause as Error).message}.`);
    }
  };
  const compare = () =>
    work(async () =>
      setPlan(await call('setConfig', { params, query: { dryRun: '1' }, body: readText() })),
    );
  const apply = ({ etag }: Plan) =>
    work(async () => {
      const { changes } = await call(
        'setConfig',
        { params, body: readText() },
        { headers: { 'If-Match': etag } },
      );
      setPlan(undefined);
      await queryClient.invalidateQueries();
      notify(`${countWords(changes.length, 'change')} applied`);
    });
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (!file) return;
    setText(await file.text());
    setPlan(undefined);
    setError(null);
    // So that the same file, changed meanwhile, can be opened again.
    target.value = '';
  };

  return (
    <SettingsFrame
      projectId={projectId}
      takes="getConfig"
      title="Config as a file"
      says="Settings, collections with their rules and schemas, roles, prompts, mail templates, products and webhooks, without secrets. A section that the file leaves out stays as it is; an entry that a section leaves out goes."
      actions={<ApiCall name="setConfig" input={{ params, query: { dryRun: '1' }, body: {} }} />}
    >
      <div className="row">
        <button type="button" disabled={isBusy} onClick={() => void load()}>
          Show what is set
        </button>
        <label className="button">
          Open a file
          <input
            type="file"
            accept=".json,application/json"
            className="visually-hidden"
            onChange={(event) => void choose(event)}
          />
        </label>
        <button
          type="button"
          disabled={text === ''}
          onClick={() => saveFile(`${projectId}.json`, text, 'application/json')}
        >
          Save as a file
        </button>
      </div>
      <Field label="Config" hint="Nothing changes before you have seen what would.">
        {(props) => (
          <textarea
            {...props}
            className="code config-file"
            spellCheck={false}
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              setPlan(undefined);
            }}
            placeholder={'{ "settings": { "mustVerify": true } }'}
          />
        )}
      </Field>
      <Problem error={error} />
      {plan && <ConfigChanges changes={plan.changes} />}
      <div className="row">
        {plan && plan.changes.length > 0 ? (
          <button
            type="button"
            className="primary"
            disabled={isBusy}
            onClick={() => void apply(plan)}
          >
            Apply {countWords(plan.changes.length, 'change')}
          </button>
        ) : (
          <button
            type="button"
            className="primary"
            disabled={isBusy || text.trim() === ''}
            onClick={() => void compare()}
          >
            Show what would change
          </button>
        )}
      </div>
      <Applications projectId={projectId} />
    </SettingsFrame>
  );
};
