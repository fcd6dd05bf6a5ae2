import { useState } from 'react';
import type { Answer, Item } from '../../api/operation-types.ts';
import { useChange, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { ShownOnce } from '../../parts/dialogs/shown-once.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Snippet } from '../../parts/snippet.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { useProjectId } from '../../parts/use-project-id.ts';
import { Time } from '../../parts/words/time.tsx';
import { CreateKey } from './create-key.tsx';
import { SettingsFrame } from './settings-frame.tsx';

type Key = Item<'listKeys'>;

const KeyRow = ({ projectId, item }: { projectId: string; item: Key }) => {
  const { id, name, scopes, createdAt, expiresAt, lastUsedAt } = item;
  const remove = useChange('deleteKey', { changes: ['listKeys'] });
  const revoke = async () => {
    const isSure = await confirm({
      title: `Revoke ${name}?`,
      says: 'What calls with this key is refused within seconds. It can not be brought back: make another one first where something still needs it.',
      action: 'Revoke key',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params: { projectId, keyId: id } });
    notify(`${name} is revoked`);
  };
  return (
    <tr>
      <td className="named">{name}</td>
      <td>
        <div className="row">
          {scopes.map((scope) => (
            <span key={scope} className={`badge ${scope === 'admin' ? 'warn' : ''}`}>
              {scope}
            </span>
          ))}
        </div>
      </td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>
        <Time at={lastUsedAt} />
      </td>
      <td>{expiresAt ? <Time at={expiresAt} /> : 'no end'}</td>
      <td className="number">
        <button
          type="button"
          className="small"
          aria-label={`Revoke ${name}`}
          onClick={() => void revoke().catch(notifyProblem)}
        >
          Revoke
        </button>
      </td>
    </tr>
  );
};

/** Secret keys, for servers and scripts. */
export const KeysScreen = () => {
  const projectId = useProjectId();
  const params = { projectId };
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<Answer<'createKey'>>();
  const pages = usePages('listKeys', { params });
  const create = (
    <button type="button" className="primary" onClick={() => setCreating(true)}>
      Create key
    </button>
  );
  return (
    <SettingsFrame
      projectId={projectId}
      title="Keys"
      takes="listKeys"
      says="Secret keys let a server, a script or a coding agent call as the project itself. Never put one into a page: who reads it has all of your data."
      actions={
        <>
          <ApiCall
            name="createKey"
            input={{ params, body: { name: 'Nightly export', scopes: ['read'] } }}
          />
          {create}
        </>
      }
    >
      <Listed
        pages={pages}
        empty={
          <Empty title="No keys yet" action={create}>
            An app in a browser needs none: its users sign in. Make one for what runs on a server.
          </Empty>
        }
      >
        {(keys) => (
          <WideTable
            label="Keys"
            columns={[
              'Name',
              'May',
              'Created',
              'Last used',
              'Ends',
              { label: 'Actions', isHidden: true },
            ]}
          >
            {keys.map((item) => (
              <KeyRow key={item.id} projectId={projectId} item={item} />
            ))}
          </WideTable>
        )}
      </Listed>
      {isCreating && (
        <CreateKey
          projectId={projectId}
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setMade(key);
          }}
        />
      )}
      {made && (
        <ShownOnce
          title={`The key ${made.name}`}
          secret={made.key}
          says="Copy it now to where it is needed."
          onClose={() => setMade(undefined)}
        >
          <p className="quiet-text">It is sent as a header of each call:</p>
          <Snippet
            text={`curl -s ${location.origin}/api/runtime/${projectId}/db/todos -H "Authorization: Bearer $BACKLOT_KEY"`}
          />
        </ShownOnce>
      )}
    </SettingsFrame>
  );
};
