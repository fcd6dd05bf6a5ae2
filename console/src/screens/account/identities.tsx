import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useCall, useChange } from '../../api/queries.ts';
import { ownerAuth } from '../../api/session.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { proveOwner } from '../../parts/dialogs/proof.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { Time } from '../../parts/words/time.tsx';
import { ownProject } from './own-project.ts';

type Identity = Item<'listIdentities'>;

const changes = ['listIdentities', 'listMyEvents'] as const;
const columns = ['Provider', 'Account there', 'Linked', { label: 'Actions', isHidden: true }];

const Row = ({ identity }: { identity: Identity }) => {
  const { id, label, email, createdAt } = identity;
  const unlink = useChange('unlinkIdentity', { changes });
  const remove = async () => {
    const isSure = await confirm({
      title: `Sign in with ${label} no more?`,
      says: 'You can link it again. The last way of signing in can not be taken away.',
      action: `Unlink ${label}`,
    });
    if (!isSure || !(await proveOwner())) return;
    await unlink.mutateAsync({ ...ownProject, params: { identityId: id } });
    notify(`${label} is unlinked`);
  };
  return (
    <tr>
      <td>{label}</td>
      <td className="cut">{email ?? '–'}</td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>
        <div className="row end">
          <button
            type="button"
            className="quiet small"
            disabled={unlink.isPending}
            onClick={() => void remove().catch(notifyProblem)}
          >
            Unlink
          </button>
        </div>
      </td>
    </tr>
  );
};

/** Ends what was begun with a provider, when it leads back to this page. */
const useReturn = () => {
  const client = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    ownerAuth
      .finishSignIn()
      .then((user) => {
        if (user) notify('It is linked');
      }, setError)
      .finally(() => {
        for (const name of changes) void client.invalidateQueries({ queryKey: [name] });
      });
  }, [client]);
  return [error, setError] as const;
};

/** Accounts elsewhere with which the owner signs in here. */
export const Identities = () => {
  const query = useCall('listIdentities', ownProject);
  const providers = useCall('listAuthProviders', ownProject);
  const [error, setError] = useReturn();
  const link = async (name: string) => {
    if (await proveOwner()) await ownerAuth.linkIdentity(name);
  };
  const identities = query.data?.items ?? [];
  const others = (providers.data?.items ?? []).filter(
    ({ name }) => !identities.some(({ provider }) => provider === name),
  );
  if (identities.length === 0 && others.length === 0 && !error) return null;
  return (
    <section className="section" aria-label="Other accounts">
      <div className="spread">
        <h2>Other accounts</h2>
        <div className="row">
          {others.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              className="small"
              onClick={() => {
                setError(null);
                link(name).catch(setError);
              }}
            >
              Link {label}
            </button>
          ))}
        </div>
      </div>
      <Problem error={error ?? query.error} />
      {identities.length === 0 && (
        <p className="quiet-text">None is linked. With one you sign in without a password.</p>
      )}
      {identities.length > 0 && (
        <WideTable label="Linked accounts" columns={columns}>
          {identities.map((identity) => (
            <Row key={identity.id} identity={identity} />
          ))}
        </WideTable>
      )}
    </section>
  );
};
