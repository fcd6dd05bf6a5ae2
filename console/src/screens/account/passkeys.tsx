import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Item } from '../../api/operation-types.ts';
import { useCall, useChange } from '../../api/queries.ts';
import { secondFactorShown } from '../../api/second-factor.ts';
import { ownerAuth } from '../../api/session.ts';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { proveOwner } from '../../parts/dialogs/proof.tsx';
import { RenameModal } from '../../parts/dialogs/rename-modal.tsx';
import { DeleteButton } from '../../parts/lists/delete-button.tsx';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { notify } from '../../parts/toasts.tsx';
import { Time } from '../../parts/words/time.tsx';
import { ownProject } from './own-project.ts';

type Passkey = Item<'listPasskeys'>;

const changes = ['listPasskeys', 'listMyEvents'] as const;
const columns = ['Name', 'Signs in at', 'Added', 'Last used', { label: 'Actions', isHidden: true }];

const Row = ({ passkey, rename }: { passkey: Passkey; rename(): void }) => {
  const { id, name, host, createdAt, lastUsedAt } = passkey;
  const remove = useChange('deletePasskey', { changes });
  const forget = async () => {
    const isSure = await confirm({
      title: `Forget the passkey “${name}”?`,
      says: 'It signs you in no more. The device keeps its half until you delete it there.',
      action: 'Forget passkey',
      isDangerous: true,
    });
    if (!isSure || !(await proveOwner())) return;
    await remove.mutateAsync({ ...ownProject, params: { id } });
    notify('The passkey is forgotten');
  };
  return (
    <tr>
      <td className="cut">{name}</td>
      <td className="mono">{host}</td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>{lastUsedAt ? <Time at={lastUsedAt} /> : 'never'}</td>
      <td>
        <div className="row end">
          <button type="button" className="quiet small" onClick={rename}>
            Rename
          </button>
          <DeleteButton name={name} isPending={remove.isPending} onDelete={forget} />
        </div>
      </td>
    </tr>
  );
};

/** A passkey is made by the browser, with the owner's finger, face or key. */
const useAdd = () => {
  const client = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  const [isPending, setPending] = useState(false);
  const add = async () => {
    setError(null);
    setPending(true);
    try {
      if (!(await proveOwner())) return;
      await ownerAuth.addPasskey();
      secondFactorShown();
      notify('The passkey is added');
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setPending(false);
      for (const name of changes) void client.invalidateQueries({ queryKey: [name] });
    }
  };
  return { add, error, isPending };
};

/** The owner's passkeys: added here, named, forgotten. */
export const Passkeys = () => {
  const query = useCall('listPasskeys', ownProject);
  const rename = useChange('renamePasskey', { changes });
  const [named, setNamed] = useState<Passkey>();
  const { add, error, isPending } = useAdd();
  const passkeys = query.data?.items;
  return (
    <section className="section" aria-label="Passkeys">
      <div className="spread">
        <h2>Passkeys</h2>
        <button type="button" className="small" disabled={isPending} onClick={() => void add()}>
          Add a passkey
        </button>
      </div>
      <Problem error={error} />
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!passkeys && !query.error && <Loading lines={2} />}
      {passkeys?.length === 0 && (
        <p className="quiet-text">
          None yet. A passkey signs you in by finger, face or a key, without a password.
        </p>
      )}
      {passkeys && passkeys.length > 0 && (
        <WideTable label="Your passkeys" columns={columns}>
          {passkeys.map((passkey) => (
            <Row key={passkey.id} passkey={passkey} rename={() => setNamed(passkey)} />
          ))}
        </WideTable>
      )}
      {named && (
        <RenameModal
          title="Rename the passkey"
          name={named.name}
          maxLength={100}
          error={rename.error}
          isPending={rename.isPending}
          onClose={() => setNamed(undefined)}
          onName={(name) =>
            rename.mutate(
              { ...ownProject, params: { id: named.id }, body: { name } },
              { onSuccess: () => setNamed(undefined) },
            )
          }
        />
      )}
    </section>
  );
};
