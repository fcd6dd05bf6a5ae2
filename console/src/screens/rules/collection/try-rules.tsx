import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../../../api/operation-types.ts';
import { useCall } from '../../../api/queries.ts';
import { Loading } from '../../../parts/lists/loading.tsx';
import { WideTable } from '../../../parts/lists/wide-table.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { countWords, formatCount } from '../../../parts/words/numbers.ts';
import { userLabel } from '../../../parts/words/user-label.ts';
import { wordsIn } from '../words/matrix.ts';
import { type Access, rulesBehind } from '../words/words.ts';

interface TryRulesProps {
  projectId: string;
  collection: string;
  /** Rules that are not set yet; those in force without it. */
  access: Access | undefined;
  /** Whether the records themselves are read, too. */
  showsRecords: boolean;
  roles: readonly string[];
}

type Tried = Answer<'tryAccess'>;
type Outcome = Tried['items'][number];

/** Records that are tried; all of them can be asked for by one filter. */
const limit = 50;
/** Characters of a record that are shown. */
const shownLength = 160;

const mark = (may: boolean) => (may ? 'yes' : 'no');

const Change = ({ now, then }: { now: boolean; then: boolean }) => {
  if (now === then) return <span className={now ? '' : 'quiet-text'}>{mark(now)}</span>;
  return (
    <span className={`badge ${then ? 'warn' : 'accent'}`}>
      {mark(now)} → {mark(then)}
    </span>
  );
};

const sums = ({ items }: Tried, does: 'read' | 'change' | 'delete', isDraft: boolean) => {
  const then = items.filter((item) => item[does]).length;
  const now = items.filter((item) => item.inForce[does]).length;
  const verb = { read: 'reads', change: 'changes', delete: 'deletes' }[does];
  return `${verb} ${formatCount(then)}${isDraft && now !== then ? ` (now ${formatCount(now)})` : ''}`;
};

interface ResultsProps extends Pick<TryRulesProps, 'projectId' | 'showsRecords'> {
  tried: Tried;
  isDraft: boolean;
}

const Results = ({ tried, isDraft, projectId, showsRecords }: ResultsProps) => {
  const ids = tried.items.map(({ id }) => id);
  const records = useCall(
    'listRecords',
    {
      project: projectId,
      params: { collection: tried.collection },
      query: { where: { id: { $in: ids } }, limit },
    },
    { enabled: showsRecords && ids.length > 0 },
  );
  if (tried.sampled === 0)
    return (
      <p className="quiet-text">
        There are no records to try it on yet. By the rules alone they{' '}
        {tried.rules.create.allowed === 'no' ? 'create none' : 'create some'}.
      </p>
    );
  const texts = new Map(
    (records.data?.items ?? []).map((record) => {
      const {
        id,
        ownerId: _,
        createdAt: __,
        updatedAt: ___,
        ...data
      } = record as Record<string, unknown>;
      return [String(id), JSON.stringify(data).slice(0, shownLength)];
    }),
  );
  const fieldNotes = ({ hidden, frozen }: Outcome) =>
    [
      ...(hidden.length > 0 ? [`does not see ${hidden.join(', ')}`] : []),
      ...(frozen.length > 0 ? [`does not change ${frozen.join(', ')}`] : []),
    ].join('; ');
  const hasNotes = tried.items.some((item) => fieldNotes(item) !== '');
  return (
    <>
      <p role="status">
        Of {countWords(tried.sampled, 'record')} this caller {sums(tried, 'read', isDraft)},{' '}
        {sums(tried, 'change', isDraft)}, {sums(tried, 'delete', isDraft)}.{' '}
        {!isDraft && (
          <Link
            to="/projects/$projectId/data/$collection"
            params={{ projectId, collection: tried.collection }}
            search={{ as: tried.as }}
          >
            See all of it as they do
          </Link>
        )}
      </p>
      <WideTable
        label="Tried records"
        columns={['Record', 'Read', 'Change', 'Delete', ...(hasNotes ? ['Fields'] : [])]}
      >
        {tried.items.map((item) => (
          <tr key={item.id}>
            <td className="mono cut try-record">
              <bdi>{texts.get(item.id) ?? item.id}</bdi>
            </td>
            <td>
              <Change now={item.inForce.read} then={item.read} />
            </td>
            <td>
              <Change now={item.inForce.change} then={item.change} />
            </td>
            <td>
              <Change now={item.inForce.delete} then={item.delete} />
            </td>
            {hasNotes && <td className="quiet-text">{fieldNotes(item)}</td>}
          </tr>
        ))}
      </WideTable>
    </>
  );
};

/** The rules on a sample of the records, as somebody who calls; nothing is changed by it. */
export const TryRules = ({ projectId, collection, access, showsRecords, roles }: TryRulesProps) => {
  const [as, setAs] = useState('stranger');
  const [email, setEmail] = useState('');
  const users = useCall(
    'listUsers',
    { params: { projectId }, query: { q: email, limit: 1 } },
    { enabled: as === 'user' && email.length > 2 },
  );
  const user = users.data?.items[0];
  const caller = as === 'user' ? user && `user:${user.id}` : as;
  const tried = useCall(
    'tryAccess',
    {
      params: { projectId, collection },
      body: { as: caller ?? 'stranger', limit, ...(access && { access }) },
    },
    { enabled: caller !== undefined, keepsLast: true },
  );
  const named = access ? [...wordsIn(rulesBehind(access))] : [];
  const known = new Set([
    ...roles,
    ...named.filter((word) => word.startsWith('role:')).map((word) => word.slice(5)),
  ]);
  return (
    <section className="stack close">
      <div className="spread">
        <h3>{access ? 'What these rules would do' : 'What the rules do'}</h3>
        <div className="row try-as">
          <span className="row">
            As
            <select aria-label="As whom" value={as} onChange={({ target }) => setAs(target.value)}>
              <option value="stranger">a stranger</option>
              <option value="user">a user…</option>
              <option value="role:user">any user</option>
              {[...known].map((role) => (
                <option key={role} value={`role:${role}`}>
                  the role {role}
                </option>
              ))}
            </select>
          </span>
          {as === 'user' && (
            <input
              type="search"
              aria-label="Address of the user"
              placeholder="ada@example.org"
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
          )}
        </div>
      </div>
      {as === 'user' && (
        <p className="quiet-text" role="status">
          {user
            ? `As ${userLabel(user)}.`
            : email.length > 2 && users.data
              ? 'No user’s address or name begins so.'
              : 'Type how the address or name begins.'}
        </p>
      )}
      {tried.error && <Problem error={tried.error} again={() => void tried.refetch()} />}
      {caller !== undefined && tried.isLoading && <Loading lines={3} />}
      {caller !== undefined && tried.data && (
        <Results
          tried={tried.data}
          isDraft={access !== undefined}
          projectId={projectId}
          showsRecords={showsRecords}
        />
      )}
    </section>
  );
};
