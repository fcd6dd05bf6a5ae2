import { useState } from 'react';
import type { Item } from '../../../api/operation-types.ts';
import { useCall } from '../../../api/queries.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Modal } from '../../../parts/dialogs/modal.tsx';
import { Empty } from '../../../parts/lists/empty.tsx';
import { Loading } from '../../../parts/lists/loading.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Screen } from '../../../parts/screen.tsx';
import { Snippet } from '../../../parts/snippet.tsx';
import { countWords, formatBytes, formatCount } from '../../../parts/words/numbers.ts';
import { Time } from '../../../parts/words/time.tsx';
import '../operator.css';

type Backup = Item<'listBackups'>;

const make = 'pnpm ops backup --to /backups/$(date +%F)';

/** The folder without the machine before it, where a shell takes it for nothing else. */
const folderOf = ({ place }: Backup) => {
  const folder = place.replace(/^[^/]*:/, '');
  return /^[\w./-]+$/.test(folder) ? folder : '<folder>';
};

const Verified = ({ verifiedAt, verifiedBy }: Backup) =>
  verifiedAt === null ? (
    <span className="badge">not verified</span>
  ) : (
    <>
      <span className="badge good">verified</span> <Time at={verifiedAt} /> by {verifiedBy}
    </>
  );

const OneBackup = ({ backup, onClose }: { backup: Backup; onClose(): void }) => (
  <Modal title="Back-up" isOpen onClose={onClose} isWide>
    <dl className="facts">
      <dt>As of</dt>
      <dd>
        <Time at={backup.beganAt} />
      </dd>
      <dt>Made by</dt>
      <dd>
        {backup.notedBy}, release {backup.release}
      </dd>
      <dt>Where</dt>
      <dd className="wraps">{backup.place}</dd>
      <dt>Has</dt>
      <dd>
        {countWords(backup.rows, 'row')}, {countWords(backup.files, 'file')}
      </dd>
      <dt>Master keys</dt>
      <dd className="wraps">
        <code>{backup.keyIds.join(', ')}</code>
      </dd>
      <dt>Id</dt>
      <dd className="wraps">
        <code>{backup.id}</code>
      </dd>
    </dl>
    {backup.lostFiles > 0 && (
      <div className="callout warn">
        {countWords(backup.lostFiles, 'file')} had lost their bytes before: they are named in its
        manifest.
      </div>
    )}
    <p>To read all its parts, and be sure of it:</p>
    <Snippet text={`pnpm ops restore --dry-run --from ${folderOf(backup)}`} />
    <p>To bring it back, into an empty installation that has its master keys:</p>
    <Snippet text={`pnpm ops restore --from ${folderOf(backup)}`} />
  </Modal>
);

/** Whether there is one, and whether it is too old. */
const State = ({ overdueAt }: { overdueAt: string | null }) => {
  if (overdueAt === null) return null;
  const isOverdue = Date.parse(overdueAt) <= Date.now();
  return (
    <div className={`callout ${isOverdue ? 'warn' : 'good'}`} role="status">
      {isOverdue ? (
        <>
          A new one was due <Time at={overdueAt} />. What was written since the last one is in none.
        </>
      ) : (
        <>
          The next one is due <Time at={overdueAt} />.
        </>
      )}
    </div>
  );
};

/** Back-ups of the installation that somebody told it of. */
export const BackupsScreen = () => {
  const [shown, setShown] = useState<Backup>();
  const { data, error, refetch } = useCall('listBackups', {}, { as: 'operator' });
  return (
    <Screen
      title="Back-ups"
      says="Of the whole installation, newest first, as pnpm ops backup and restore --dry-run have told of them. Whether they are still where they were put, only a look there shows."
      actions={<ApiCall name="listBackups" input={{}} as="operator" />}
    >
      <Problem error={error} again={() => void refetch()} />
      {!data && !error && <Loading />}
      {data?.items.length === 0 && (
        <Empty title="No back-up is known" snippet={make}>
          Make one beside the servers, with the settings of the migration, BACKLOT_HOST and an
          operator’s token. It has all rows and files of one moment; everything goes on meanwhile.
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <>
          <State overdueAt={data.overdueAt} />
          <WideTable
            label="Back-ups"
            columns={[
              'As of',
              'State',
              { label: 'Size', isNumber: true },
              { label: 'Rows', isNumber: true },
              { label: 'Files', isNumber: true },
              'Made by',
              'Where',
            ]}
          >
            {data.items.map((backup) => (
              <tr key={backup.id}>
                <td>
                  <button type="button" className="link" onClick={() => setShown(backup)}>
                    <Time at={backup.beganAt} />
                  </button>
                </td>
                <td>
                  <Verified {...backup} />
                </td>
                <td className="number">{formatBytes(backup.sizeBytes)}</td>
                <td className="number">{formatCount(backup.rows)}</td>
                <td className="number">
                  {formatCount(backup.files)}
                  {backup.lostFiles > 0 && (
                    <>
                      {' '}
                      <span className="badge warn">{formatCount(backup.lostFiles)} lost</span>
                    </>
                  )}
                </td>
                <td>{backup.notedBy}</td>
                <td className="operator-name">{backup.place}</td>
              </tr>
            ))}
          </WideTable>
          <p className="quiet-text">To make another, in a folder of its own:</p>
          <Snippet text={make} />
        </>
      )}
      {shown && <OneBackup backup={shown} onClose={() => setShown(undefined)} />}
    </Screen>
  );
};
