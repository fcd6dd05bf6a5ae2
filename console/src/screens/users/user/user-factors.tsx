import type { ReactNode } from 'react';
import { useCall, useChange } from '../../../api/queries.ts';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { DeleteButton } from '../../../parts/lists/delete-button.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { countWords } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';

interface Whose {
  projectId: string;
  userId: string;
}

const reads = ['listUserFactors', 'listUserSessions', 'listUserEvents'] as const;

/** One way in, which goes with a click and a word. */
const Way = ({
  id,
  name,
  whose,
  children,
}: {
  id: string;
  name: string;
  whose: Whose;
  children: ReactNode;
}) => {
  const remove = useChange('deleteUserFactor', { changes: reads });
  const forget = async () => {
    const isSure = await confirm({
      title: `Forget ${name} of this user?`,
      says: 'Make sure that it is them who ask. It signs them in no more, and every session ends.',
      action: 'Forget it',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params: { ...whose, id } });
    notify('It is forgotten, and every session has ended');
  };
  return (
    <li className="spread">
      <span className="wraps">{children}</span>
      <DeleteButton name={name} isPending={remove.isPending} onDelete={forget} />
    </li>
  );
};

/** Second factors, passkeys and linked accounts of a user, for when they have lost them. */
export const UserFactors = (whose: Whose) => {
  const query = useCall('listUserFactors', { params: whose });
  const reset = useChange('resetUserFactors', { changes: reads });
  const factor = query.data?.items[0];
  const { passkeys = [], identities = [], recoveryCodesLeft = 0 } = query.data ?? {};
  const forget = async () => {
    const isSure = await confirm({
      title: 'Forget their second factor and passkeys?',
      says: 'For somebody who has lost phone and recovery codes. Make sure that it is them who ask: their password alone signs in then. Every session ends.',
      action: 'Forget all of them',
      isDangerous: true,
    });
    if (!isSure) return;
    await reset.mutateAsync({ params: whose });
    notify('They are forgotten, and every session has ended');
  };
  return (
    <section className="section" aria-label="How they sign in">
      <div className="spread">
        <h2>Passkeys, second factor and linked accounts</h2>
        {(factor || passkeys.length > 0) && (
          <button
            type="button"
            className="small"
            onClick={() => void forget().catch(notifyProblem)}
          >
            Forget all…
          </button>
        )}
      </div>
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!query.data && !query.error && <Loading lines={1} />}
      {query.data && (
        <ul className="plain-list">
          {factor ? (
            <Way id={factor.id} name="the authenticator app" whose={whose}>
              An authenticator app since <Time at={factor.createdAt} />,{' '}
              {countWords(recoveryCodesLeft, 'recovery code')} left.
            </Way>
          ) : (
            <li className="quiet-text">No authenticator app.</li>
          )}
          {passkeys.length === 0 && <li className="quiet-text">No passkeys.</li>}
          {passkeys.map(({ id, name, host, lastUsedAt }) => (
            <Way key={id} id={id} name={`the passkey “${name}”`} whose={whose}>
              Passkey “{name}” for <span className="mono">{host}</span>, last used{' '}
              {lastUsedAt ? <Time at={lastUsedAt} /> : 'never'}.
            </Way>
          ))}
          {identities.map(({ id, label, email, lastUsedAt }) => (
            <Way key={id} id={id} name={`the account at ${label}`} whose={whose}>
              {label}, {email ?? 'without an address'}, last used <Time at={lastUsedAt} />.
            </Way>
          ))}
        </ul>
      )}
    </section>
  );
};
