import { usePages } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Listed } from '../../../parts/lists/listed.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { formatCredits } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';
import { GrantForm } from './grant-form.tsx';
import { ReverseGrant } from './reverse-grant.tsx';

const kinds = {
  grant: 'granted',
  debit: 'used',
  refund: 'given back',
  expiry: 'expired',
  correction: 'corrected',
} as const;

/** What is left, a grant, and what the credits went to. */
export const OwnerCredits = ({ ownerId }: { ownerId: string }) => {
  const input = { query: { ownerId, limit: 10 } };
  const pages = usePages('getCredits', input, { as: 'operator' });
  const { first } = pages;
  return (
    <section className="section" aria-labelledby="credits">
      <div className="spread">
        <h2 id="credits">Credits</h2>
        <ApiCall name="getCredits" input={input} as="operator" />
      </div>
      {first && (
        <p>
          <strong>{formatCredits(first.balanceMillicredits)} credits left</strong>
          {', '}
          {formatCredits(first.forecast.millicreditsPerDay)} a day of late;{' '}
          {first.forecast.endsAt ? (
            <>
              they end <Time at={first.forecast.endsAt} />
            </>
          ) : (
            'they last until the next ones come'
          )}
          .
        </p>
      )}
      <GrantForm ownerId={ownerId} />
      <Listed pages={pages} empty={<p className="quiet-text">No credits have moved yet.</p>}>
        {(items) => (
          <WideTable
            label="Credit history"
            columns={[
              'When',
              'What',
              'Project',
              { label: 'Credits', isNumber: true },
              'Reason',
              { label: 'Acts', isHidden: true },
            ]}
          >
            {items.map(({ id, kind, amountMillicredits, projectId, route, createdAt, ...line }) => (
              <tr key={id}>
                <td>
                  <Time at={createdAt} />
                </td>
                <td>
                  {kinds[kind]} {route && <code>{route}</code>}
                </td>
                <td className="mono">{projectId}</td>
                <td className="number">{formatCredits(amountMillicredits)}</td>
                <td className="operator-name">{line.reason}</td>
                <td>
                  {kind === 'grant' && line.grantId && <ReverseGrant grantId={line.grantId} />}
                </td>
              </tr>
            ))}
          </WideTable>
        )}
      </Listed>
    </section>
  );
};
