import { createHash, randomBytes } from 'node:crypto';
import {
  ApiError,
  type EventPayloads,
  type GivenRole,
  isUuid,
  type MemberInvitation,
  normalizeEmail,
  projectRoutes,
} from '@backlot/contract';
import { createQueries, type Database, deleteExpired, type Outbox } from '@backlot/database';
import { noteAct } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { WindowCounts } from '@backlot/service';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Owners } from '../owners.ts';
import type { Project } from '../projects/project-row.ts';
import type { Projects } from '../projects/projects.ts';
import { type ProjectScope, toScope } from '../projects/scope.ts';
import type { DB as Tables } from '../tables.ts';
import { invitationBounds } from './invitation-bounds.ts';
import type { Members } from './members.ts';

const { maxMemberInvitations } = projectRoutes;
const lifetimeMs = 7 * 24 * 60 * 60_000;

type InvitationRow = Pick<
  Selectable<Tables['member_invitations']>,
  'id' | 'email' | 'role' | 'created_at' | 'sent_at' | 'expires_at'
>;

const columns = ['id', 'email', 'role', 'created_at', 'sent_at', 'expires_at'] as const;

const presentInvitation = (row: InvitationRow): MemberInvitation => ({
  id: row.id,
  email: row.email,
  role: row.role as GivenRole,
  createdAt: row.created_at.toISOString(),
  sentAt: row.sent_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
});

const digest = (token: string) => createHash('sha256').update(token).digest();
const unknown = () => new ApiError('not_found', 'There is no such invitation.');
const invalidLink = () =>
  new ApiError('invalid_link', 'This invitation was used or taken back, or has expired.', {
    hint: 'Whoever has invited you can send another.',
  });

export interface InvitationsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  projects: Projects;
  members: Members;
  owners: Pick<Owners, 'find' | 'isVerified'>;
  windowCounts: WindowCounts;
  now: () => number;
}

export type Invitations = ReturnType<typeof createInvitations>;

/** Mailed invitations to become a member: good once, for the account of that address alone. */
export const createInvitations = (deps: InvitationsDeps) => {
  const { database, outbox, projects, members, owners, windowCounts, now } = deps;
  const queries = createQueries<Tables>(database);

  const open = (projectNumber: number) =>
    queries
      .selectFrom('member_invitations')
      .where('project_number', '=', projectNumber)
      .where('expires_at', '>', new Date(now()));

  /** @throws ApiError member_limit */
  const checkHasRoom = async (projectNumber: number, email: string) => {
    const { count } = await open(projectNumber)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('email', '<>', email)
      .executeTakeFirstOrThrow();
    if (count < maxMemberInvitations) return;
    const most = `A project has at most ${maxMemberInvitations} open invitations.`;
    throw new ApiError('member_limit', most, { hint: 'Take back those that nobody follows.' });
  };

  /** Whose address the mail names. @throws ApiError owner_unverified, too_many_attempts, unavailable */
  const findInviter = async ({ userId, ip }: Identity, email: string) => {
    if (userId === null) throw new ApiError('unauthenticated', 'Sign in as an owner first.');
    if (!(await owners.isVerified(userId)))
      throw new ApiError('owner_unverified', 'Confirm your own e-mail address first.', {
        hint: 'Follow the link in the mail that came when you signed up.',
      });
    const inviter = await owners.find(userId);
    if (!(await windowCounts.take(invitationBounds({ userId, ip, email }))))
      throw new ApiError('too_many_attempts', 'Too many invitations. Try again tomorrow.', {
        retryAfterSeconds: 60 * 60,
      });
    return { userId, email: inviter?.email ?? null };
  };

  const mail = async (
    { project, ip }: Identity,
    { email, role, expires_at: end }: Pick<InvitationRow, 'email' | 'role' | 'expires_at'>,
    token: string,
    invitedBy: string | null,
  ) => {
    if (project.ownerId === null) throw new ApiError('forbidden', 'This project has no members.');
    await outbox.append('member.invited', {
      projectId: project.id,
      projectNumber: project.number,
      projectName: project.name,
      ownerId: project.ownerId,
      ipHash: createHash('sha256').update(`address\n${ip}`).digest('hex'),
      to: email,
      role: role as GivenRole,
      invitedBy,
      token,
      expiresAt: end.toISOString(),
    });
  };

  /** What a new link has; only its hash is kept. */
  const newLink = () => {
    const at = now();
    const token = randomBytes(32).toString('base64url');
    const times = { sent_at: new Date(at), expires_at: new Date(at + lifetimeMs) };
    return { token, change: { ...times, token_hash: digest(token) } };
  };

  const findOpen = async (token: string) => {
    const row = await queries
      .selectFrom('member_invitations as i')
      .innerJoin('projects as p', 'p.number', 'i.project_number')
      .select(['i.email', 'i.role', 'i.invited_by', 'i.expires_at'])
      .select(['p.id', 'p.name', 'p.number', 'p.owner_id'])
      .where('token_hash', '=', digest(token))
      .where('expires_at', '>', new Date(now()))
      .where('p.deleted_at', 'is', null)
      .executeTakeFirst();
    if (!row) throw invalidLink();
    return row;
  };

  const findAccount = async (userId: string | null) => {
    const account = userId === null ? null : await owners.find(userId);
    if (!account || userId === null) throw new ApiError('unauthenticated', 'Sign in first.');
    const email = account.email === null ? null : normalizeEmail(account.email);
    return { userId, email, isVerified: account.emailVerified };
  };

  return {
    /**
     * A former invitation of that address ends.
     * @throws ApiError project_not_found, project_deleted, conflict, member_limit, owner_unverified,
     *   too_many_attempts, unavailable
     */
    async prepare(identity: Identity, { email, role }: { email: string; role: GivenRole }) {
      const inviter = await findInviter(identity, email);
      const { number } = identity.project;
      const create = async (): Promise<MemberInvitation> => {
        await members.lockOwn(toScope(identity));
        if ((await members.hasAddress(number, email)) || inviter.email === email)
          throw new ApiError('conflict', 'Who has this address is a member already.');
        await checkHasRoom(number, email);
        const { token, change } = newLink();
        const row = {
          ...change,
          id: uuidv7(),
          email,
          role,
          created_at: change.sent_at,
          invited_by: inviter.userId,
        };
        await queries
          .insertInto('member_invitations')
          .values({ project_number: number, ...row })
          .onConflict((conflict) =>
            conflict.constraint('member_invitations_email').doUpdateSet(row),
          )
          .execute();
        await mail(identity, row, token, inviter.email);
        return presentInvitation(row);
      };
      return () => database.transaction(create);
    },

    /** @throws ApiError not_found, owner_unverified, too_many_attempts, unavailable */
    async prepareAgain(identity: Identity, id: string) {
      const { number } = identity.project;
      if (!isUuid(id)) throw unknown();
      const found = await open(number).select('email').where('id', '=', id).executeTakeFirst();
      if (!found) throw unknown();
      const inviter = await findInviter(identity, found.email);
      const send = async (): Promise<MemberInvitation> => {
        await members.lockOwn(toScope(identity));
        const { token, change } = newLink();
        const row = await queries
          .updateTable('member_invitations')
          .set({ ...change, invited_by: inviter.userId })
          .where('project_number', '=', number)
          .where('id', '=', id)
          .returning(columns)
          .executeTakeFirst();
        if (!row) throw unknown();
        await mail(identity, row, token, inviter.email);
        return presentInvitation(row);
      };
      return () => database.transaction(send);
    },

    /** Newest first. @throws ApiError project_not_found, project_deleted */
    async list(scope: ProjectScope): Promise<MemberInvitation[]> {
      await projects.get(scope);
      const rows = await open(scope.projectNumber)
        .select(columns)
        .orderBy('id', 'desc')
        .limit(maxMemberInvitations)
        .execute();
      return rows.map(presentInvitation);
    },

    /** @throws ApiError project_not_found, project_deleted, not_found */
    revoke: (scope: ProjectScope, id: string): Promise<void> =>
      database.transaction(async () => {
        await members.lockOwn(scope);
        if (!isUuid(id)) throw unknown();
        const row = await queries
          .deleteFrom('member_invitations')
          .where('project_number', '=', scope.projectNumber)
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst();
        if (!row) throw unknown();
      }),

    /** @throws ApiError invalid_link, unavailable */
    show: (identity: Identity, token: string) =>
      database.acrossProjects(async () => {
        const found = await findOpen(token);
        const { email, isVerified } = await findAccount(identity.userId);
        const inviter = found.invited_by === null ? null : await owners.find(found.invited_by);
        return {
          project: { id: found.id, name: found.name },
          role: found.role as GivenRole,
          invitedBy: inviter?.email ?? null,
          isForYou: isVerified && email === found.email,
          expiresAt: found.expires_at.toISOString(),
        };
      }),

    /**
     * Of several calls at once one succeeds. What refuses the caller leaves the link good.
     * @throws ApiError invalid_link, forbidden, verify_first, conflict, member_limit, unavailable
     */
    async accept(identity: Identity, token: string): Promise<() => Promise<Project>> {
      const { userId, email, isVerified } = await findAccount(identity.userId);
      const join = async (): Promise<Project> => {
        const { id, number, owner_id: ownerId } = await findOpen(token);
        // Memberships of one account come one after the other, so that their bound holds.
        await database.query(
          "SELECT pg_advisory_xact_lock(hashtextextended('memberships of ' || $1, 0))",
          [userId],
        );
        await projects.lock({ projectNumber: number, ownerId, anyOwner: false });
        const taken = await queries
          .deleteFrom('member_invitations')
          .where('project_number', '=', number)
          .where('token_hash', '=', digest(token))
          .where('expires_at', '>', new Date(now()))
          .returning(['email', 'role'])
          .executeTakeFirst();
        if (!taken) throw invalidLink();
        if (taken.email !== email)
          throw new ApiError('forbidden', 'This invitation was sent to another address.', {
            hint: 'Sign in with the account of that address, or have yours invited.',
          });
        if (!isVerified)
          throw new ApiError('verify_first', 'Confirm your e-mail address first.', {
            hint: 'Follow the link in the mail that came when you signed up, then accept again.',
          });
        await members.add(number, userId, taken);
        const role = taken.role as GivenRole;
        await noteAct({ projectId: id, ownerId, after: { role } });
        return projects.get({ projectNumber: number, ownerId: userId, anyOwner: false, role });
      };
      return () => database.acrossProjects(() => database.transaction(join));
    },

    sweep: () =>
      deleteExpired(database, [
        { table: 'member_invitations', condition: 'expires_at < $1', values: [new Date(now())] },
      ]),
  };
};
