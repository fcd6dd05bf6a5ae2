import { useState } from 'react';
import { useCall, useChange } from '../../api/queries.ts';
import { Modal } from '../../parts/dialogs/modal.tsx';
import { proveOwner } from '../../parts/dialogs/proof.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import { Time } from '../../parts/words/time.tsx';
import { AddTotp } from './add-totp.tsx';
import { CodeForm } from './code-form.tsx';
import { ownProject } from './own-project.ts';
import { RenewCodes } from './recovery-codes.tsx';

const RemoveTotp = ({ id, onClose }: { id: string; onClose(): void }) => {
  const remove = useChange('deleteFactor', { changes: ['listFactors', 'listMyEvents'] });
  return (
    <Modal title="Sign in without a code?" isOpen onClose={onClose}>
      <CodeForm
        says="Your password alone signs you in then. Recovery codes and remembered devices end."
        action="Remove the app"
        isDangerous
        change={remove}
        onClose={onClose}
        onCode={(code) =>
          remove.mutate(
            { ...ownProject, params: { id }, body: { code } },
            {
              onSuccess: () => {
                onClose();
                notify('You are asked for no code any more');
              },
            },
          )
        }
      />
    </Modal>
  );
};

/** The second factor beside a password: an authenticator app. */
export const Totp = () => {
  const query = useCall('listFactors', ownProject);
  const [open, setOpen] = useState<'add' | 'remove' | 'renew'>();
  const close = () => setOpen(undefined);
  const add = async () => {
    if (await proveOwner()) setOpen('add');
  };
  const factor = query.data?.items[0];
  const left = query.data?.recoveryCodesLeft ?? 0;
  return (
    <section className="section" aria-label="Authenticator app">
      <div className="spread">
        <h2>Authenticator app</h2>
        {query.data && (
          <div className="row">
            {factor && (
              <button type="button" className="small" onClick={() => setOpen('renew')}>
                New recovery codes…
              </button>
            )}
            <button
              type="button"
              className="small"
              onClick={() => (factor ? setOpen('remove') : void add().catch(notifyProblem))}
            >
              {factor ? 'Remove…' : 'Set up…'}
            </button>
          </div>
        )}
      </div>
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!query.data && !query.error && <Loading lines={1} />}
      {query.data && !factor && (
        <p className="quiet-text">
          Not set up. With one, a password alone opens nothing: signing in asks for a code, too.
        </p>
      )}
      {factor && (
        <p>
          <span className="badge good">on</span> Since <Time at={factor.createdAt} />.{' '}
          {countWords(left, 'recovery code')} left{left < 3 && ': make new ones soon'}.
        </p>
      )}
      {open === 'add' && <AddTotp onClose={close} />}
      {open === 'renew' && <RenewCodes onClose={close} />}
      {open === 'remove' && factor && <RemoveTotp id={factor.id} onClose={close} />}
    </section>
  );
};
