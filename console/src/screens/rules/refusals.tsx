import { useCall } from '../../api/queries.ts';
import { Loading } from '../../parts/lists/loading.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { formatCount } from '../../parts/words/numbers.ts';

interface RefusalsProps {
  projectId: string;
  /** Of this one alone. */
  collection?: string;
}

const callers: Readonly<Record<string, string>> = { anonymous: 'strangers', user: 'users' };
const rules: Readonly<Record<string, string>> = { batch: 'write in batches' };

/** What rules have refused in the last day. */
export const Refusals = ({ projectId, collection }: RefusalsProps) => {
  const query = useCall('listRefusals', { params: { projectId } });
  const items = query.data?.items.filter(
    (refusal) => collection === undefined || refusal.collection === collection,
  );
  return (
    <section className="section">
      <h2>Refused in the last 24 hours</h2>
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {!items && !query.error && <Loading lines={2} />}
      {items?.length === 0 && (
        <p className="quiet-text">
          Nothing. A record that somebody may not see is a 404, and does not count here.
        </p>
      )}
      {items && items.length > 0 && (
        <WideTable
          label="Refused calls"
          columns={[
            ...(collection === undefined ? ['Collection'] : []),
            'Who',
            'Wanted to',
            { label: 'Refused', isNumber: true },
            { label: 'Done', isNumber: true },
          ]}
        >
          {items.map((refusal) => (
            <tr key={`${refusal.collection} ${refusal.rule} ${refusal.caller}`}>
              {collection === undefined && <td>{refusal.collection}</td>}
              <td>{callers[refusal.caller] ?? refusal.caller}</td>
              <td>{rules[refusal.rule] ?? refusal.rule}</td>
              <td className="number">{formatCount(refusal.refused)}</td>
              <td className="number">{formatCount(refusal.done)}</td>
            </tr>
          ))}
        </WideTable>
      )}
    </section>
  );
};
