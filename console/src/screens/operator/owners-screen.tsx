import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { WideTable } from '../../parts/lists/wide-table.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Time } from '../../parts/words/time.tsx';
import { Finder } from './finder.tsx';
import './operator.css';

/** Who has an account here. */
export const OwnersScreen = () => {
  const { q } = useSearch({ from: '/operator/owners' });
  const navigate = useNavigate({ from: '/operator/owners' });
  const input = { query: { limit: 50, ...(q && { q }) } };
  const pages = usePages('listOwners', input, { as: 'operator', keepsLast: true });
  return (
    <Screen
      title="Owners"
      says="Everybody who can make projects here, newest first."
      actions={<ApiCall name="listOwners" input={input} as="operator" />}
    >
      <Finder
        label="Search by address or name"
        value={q ?? ''}
        onChange={(next) => void navigate({ search: next ? { q: next } : {}, replace: true })}
      />
      <Listed
        pages={pages}
        empty={
          <Empty title={q ? 'No such owner' : 'No owners yet'}>
            {q
              ? 'No address and no name begins like this.'
              : 'Who signs up on the front page stands here.'}
          </Empty>
        }
      >
        {(owners) => (
          <WideTable label="Owners" columns={['Address', 'Name', 'State', 'Since']}>
            {owners.map(({ id, email, name, emailVerified, createdAt, ...owner }) => (
              <tr key={id}>
                <td className="operator-name">
                  <Link to="/operator/owners/$ownerId" params={{ ownerId: id }}>
                    {email}
                  </Link>
                </td>
                <td className="operator-name">{name}</td>
                <td>
                  {owner.blocked ? (
                    <span className="badge bad">blocked</span>
                  ) : (
                    <span className={`badge ${emailVerified ? 'good' : ''}`}>
                      {emailVerified ? 'verified' : 'not verified'}
                    </span>
                  )}
                </td>
                <td>
                  <Time at={createdAt} />
                </td>
              </tr>
            ))}
          </WideTable>
        )}
      </Listed>
    </Screen>
  );
};
