import { useState } from 'react';
import type { Answer, Item } from '../../../api/operation-types.ts';
import { useChange, usePages } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { confirm } from '../../../parts/dialogs/confirm.tsx';
import { ShownOnce } from '../../../parts/dialogs/shown-once.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { Snippet } from '../../../parts/snippet.tsx';
import { notify, notifyProblem } from '../../../parts/toasts.tsx';
import { Time } from '../../../parts/words/time.tsx';
import { CreateToken } from './create-token.tsx';

const TokenRow = ({ id, name, scope, ...token }: Item<'listOperatorTokens'>) => {
  const remove = useChange('revokeOperatorToken', {
    as: 'operator',
    changes: ['listOperatorTokens'],
  });
  const revoke = async () => {
    const isSure = await confirm({
      title: `Revoke ${name}?`,
      says: 'Calls with this token are refused within seconds. It can not be brought back, and its name stays in the audit log.',
      action: 'Revoke token',
      isDangerous: true,
    });
    if (!isSure) return;
    await remove.mutateAsync({ params: { tokenId: id } });
    notify(`${name} is revoked`);
  };
  return (
    <tr>
      <td className="named">{name}</td>
      <td>
        <span className={`badge ${scope === 'admin' ? 'warn' : ''}`}>{scope}</span>
      </td>
      <td>
        <Time at={token.createdAt} /> by {token.createdBy}
      </td>
      <td>
        <Time at={token.lastUsedAt} />
      </td>
      <td>
        <Time at={token.expiresAt} />
      </td>
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

/** Who operates the platform, each with a token of their own. */
export const TokensScreen = () => {
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<Answer<'createOperatorToken'>>();
  const pages = usePages('listOperatorTokens', {}, { as: 'operator' });
  const create = (
    <button type="button" className="primary" onClick={() => setCreating(true)}>
      Create token
    </button>
  );
  return (
    <Screen
      title="Operators"
      says="Give each person and program a token of their own, and keep BACKLOT_OPERATOR_TOKEN for emergencies."
      actions={
        <>
          <ApiCall
            name="createOperatorToken"
            input={{ body: { name: 'ann', scope: 'support' } }}
            as="operator"
          />
          {create}
        </>
      }
    >
      <Listed
        pages={pages}
        empty={
          <Empty title="No tokens yet" action={create}>
            Only BACKLOT_OPERATOR_TOKEN opens this page now, and the audit log can not tell who used
            it.
          </Empty>
        }
      >
        {(tokens) => (
          <WideTable
            label="Operators’ tokens"
            columns={[
              'Name',
              'May',
              'Created',
              'Last used',
              'Ends',
              { label: 'Actions', isHidden: true },
            ]}
          >
            {tokens.map((token) => (
              <TokenRow key={token.id} {...token} />
            ))}
          </WideTable>
        )}
      </Listed>
      {isCreating && (
        <CreateToken
          onClose={() => setCreating(false)}
          onCreated={(token) => {
            setCreating(false);
            setMade(token);
          }}
        />
      )}
      {made && (
        <ShownOnce
          title={`The token of ${made.name}`}
          secret={made.token}
          says="Hand it on in a way that nobody else reads."
          onClose={() => setMade(undefined)}
        >
          <p className="quiet-text">It signs in here, and opens the command:</p>
          <Snippet
            text={`BACKLOT_HOST=${location.origin} BACKLOT_OPERATOR_TOKEN=… pnpm ops list-owners`}
          />
        </ShownOnce>
      )}
    </Screen>
  );
};
