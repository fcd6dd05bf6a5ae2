import { type FormEvent, useState } from 'react';
import { useCall, useChange } from '../../api/queries.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { Time } from '../../parts/words/time.tsx';

const changes = ['getOpenaiSecret'] as const;

const KeyForm = ({ projectId, onClose }: { projectId: string; onClose(): void }) => {
  const set = useChange('setOpenaiSecret', {
    changes,
    onSuccess: () => {
      notify('The model is asked with your key');
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const model = String(fields.get('model')).trim();
    const apiKey = String(fields.get('apiKey')).trim();
    set.mutate({ params: { projectId }, body: { apiKey, ...(model && { model }) } });
  };
  return (
    <Modal title="Use your own key of OpenAI" isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field
          label="Key"
          hint="It is checked with the provider, then sealed: nothing shows it again."
        >
          {(props) => (
            <input
              {...props}
              name="apiKey"
              type="password"
              className="code"
              autoComplete="off"
              placeholder="sk-…"
              required
            />
          )}
        </Field>
        <Field label="Model" hint="May be left out: then the one that is set below.">
          {(props) => <input {...props} name="model" className="code" maxLength={200} />}
        </Field>
        <Problem error={set.error} />
        <footer className="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={set.isPending}>
            Use this key
          </button>
        </footer>
      </form>
    </Modal>
  );
};

/** Whose key the model is asked with. */
export const ModelKey = ({ projectId }: { projectId: string }) => {
  const params = { projectId };
  const [isOpen, setOpen] = useState(false);
  const secret = useCall('getOpenaiSecret', { params });
  const remove = useChange('deleteOpenaiSecret', { changes });
  const forget = async () => {
    const isSure = await confirm({
      title: 'Forget your key of OpenAI?',
      says: 'The model is asked with the key of this installation again. To use yours once more you have to enter it again.',
      action: 'Forget key',
      isDangerous: true,
    });
    if (isSure) await remove.mutateAsync({ params });
  };
  const isNone = secret.data?.hint === null;
  const known = isNone ? undefined : secret.data;
  return (
    <section className="card" aria-label="Key of the model">
      <div className="spread">
        <div>
          <h2>Key of the model</h2>
          {secret.isLoading && <Loading lines={1} />}
          {isNone && (
            <p className="quiet-text">
              The model is asked with the key of this installation. With one of your own, what it
              costs there is on your account.
            </p>
          )}
          {known && (
            <p>
              Your own, which ends with <code>{known.hint}</code>
              {known.model && (
                <>
                  , for <code>{known.model}</code>
                </>
              )}
              , set <Time at={known.updatedAt} />.
            </p>
          )}
        </div>
        <div className="row">
          {known && (
            <Takes name="deleteOpenaiSecret">
              <button
                type="button"
                className="quiet"
                onClick={() => void forget().catch(notifyProblem)}
              >
                Forget…
              </button>
            </Takes>
          )}
          <Takes name="setOpenaiSecret">
            <button type="button" onClick={() => setOpen(true)}>
              {known ? 'Replace key…' : 'Use your own key…'}
            </button>
          </Takes>
        </div>
      </div>
      <Problem error={secret.error} again={() => void secret.refetch()} />
      {isOpen && <KeyForm projectId={projectId} onClose={() => setOpen(false)} />}
    </section>
  );
};
