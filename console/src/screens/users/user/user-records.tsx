import { Link } from '@tanstack/react-router';
import { usePages } from '../../../api/queries.ts';
import { Listed } from '../../../parts/lists/listed.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';

interface UserRecordsProps {
  projectId: string;
  userId: string;
}

/** Characters of a record that are shown. */
const shownLength = 200;

/** What a user owns of all collections. */
export const UserRecords = ({ projectId, userId }: UserRecordsProps) => {
  const pages = usePages('listOwnedRecords', {
    params: { projectId, userId },
    query: { limit: 20 },
  });
  return (
    <section className="section">
      <h2>Records</h2>
      <Listed pages={pages} empty={<p className="quiet-text">They own no records.</p>}>
        {(items) => (
          <WideTable label="Their records" columns={['Collection', 'Record']}>
            {items.map(({ collection, record }) => {
              const { id, ownerId: _, createdAt: __, updatedAt: ___, ...data } = record;
              return (
                <tr key={String(id)}>
                  <td>
                    <Link
                      to="/projects/$projectId/data/$collection"
                      params={{ projectId, collection }}
                      search={{ record: String(id) }}
                    >
                      {collection}
                    </Link>
                  </td>
                  <td className="mono cut record-cell">
                    <bdi>{JSON.stringify(data).slice(0, shownLength)}</bdi>
                  </td>
                </tr>
              );
            })}
          </WideTable>
        )}
      </Listed>
    </section>
  );
};
