import type { Item } from '../../api/operation-types.ts';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Time } from '../../parts/words/time.tsx';

export type AuditLine = Item<'listAudit'>;

const Who = ({ actor, address }: Pick<AuditLine, 'actor' | 'address'>) => {
  const { kind, userId, keyId, keyName, operator, memberRole } = actor;
  const name = { owner: 'Owner', key: 'Key', operator: 'Operator' }[kind] ?? kind;
  return (
    <>
      {name} {operator ?? keyName ?? ''}
      {memberRole && <> ({memberRole})</>}
      {(keyId ?? userId) && <div className="mono quiet-text">{keyId ?? userId}</div>}
      {address && <div className="quiet-text">from {address}</div>}
    </>
  );
};

const Change = ({ before, after, erased }: Pick<AuditLine, 'before' | 'after' | 'erased'>) => {
  if (erased) return <span className="quiet-text">The details are erased</span>;
  if (!before && !after) return <span className="quiet-text">—</span>;
  return (
    <details>
      <summary>Before and after</summary>
      <pre className="audit-change">
        {JSON.stringify(before, null, 2)}
        {'\n→ '}
        {JSON.stringify(after, null, 2)}
      </pre>
    </details>
  );
};

/** Who has done what, newest first. */
export const AuditTable = ({ lines }: { lines: readonly AuditLine[] }) => (
  <WideTable label="Audit log" columns={['When', 'What', 'Project', 'Who', 'Change']}>
    {lines.map(({ id, at, action, target, projectId, actor, address, ...change }) => (
      <tr key={id}>
        <td>
          <Time at={at} />
        </td>
        <td>
          {action}
          <div className="quiet-text audit-target">{target}</div>
        </td>
        <td className="mono">{projectId ?? '—'}</td>
        <td>
          <Who actor={actor} address={address} />
        </td>
        <td>
          <Change {...change} />
        </td>
      </tr>
    ))}
  </WideTable>
);
