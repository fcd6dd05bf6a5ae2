import { ApiError, groupRoutes, type Invite, isUuid, showName } from '@backlot/contract';
import { createQueries } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import { hashIp } from '../counters.ts';
import { digestToken, invalidLink, newToken } from '../links/links.ts';
import type { DB as Tables } from '../tables.ts';
import { type EndedKeys, hasLiveKey } from './ended-keys.ts';
import {
  checkManages,
  checkOwns,
  type GroupOptions,
  type Groups,
  lockCaller,
  type OwnGroup,
} from './groups.ts';

type InviteRow = Pick<
  Selectable<Tables['group_invites']>,
  'id' | 'email' | 'role' | 'created_at' | 'expires_at'
>;

interface InviteOptions extends GroupOptions {
  groups: Groups;
  endedKeys: EndedKeys;
}

const lifetimeMs = 7 * 24 * 60 * 60_000;
const columns = ['id', 'email', 'role', 'created_at', 'expires_at'] as const;

const presentInvite = (row: InviteRow): Invite => ({
  id: row.id,
  email: row.email,
  role: row.role,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
});

/** Mailed invitations: whoever has the link joins, once. */
export const createInvites = ({
  database,
  outbox,
  users,
  groups,
  endedKeys,
  now,
}: InviteOptions) => {
  const queries = createQueries<Tables>(database);
  const ofGroup = (project: number, groupId: string) =>
    queries
      .selectFrom('group_invites')
      .where('project_number', '=', project)
      .where('group_id', '=', groupId)
      .where(hasLiveKey(project));

  /** @throws ApiError group_limit */
  const checkHasRoom = async (project: number, groupId: string, email: string) => {
    const { count } = await ofGroup(project, groupId)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('email', '<>', email)
      .where('expires_at', '>', new Date(now()))
      .executeTakeFirstOrThrow();
    if (count < groupRoutes.maxGroupInvites) return;
    const most = `A group can have at most ${groupRoutes.maxGroupInvites} open invitations.`;
    throw new ApiError('group_limit', most, { hint: 'Take back those that nobody follows.' });
  };

  /** @throws ApiError group_limit */
  const checkMayGrow = async (project: number, groupId: string) => {
    const { count } = await queries
      .selectFrom('group_members')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('project_number', '=', project)
      .where('group_id', '=', groupId)
      .executeTakeFirstOrThrow();
    if (count < groupRoutes.maxGroupMembers) return;
    const most = `This group has ${groupRoutes.maxGroupMembers} members, and can have no more.`;
    throw new ApiError('group_limit', most);
  };

  /** As `join`; belongs into a transaction that has locked or made the user. */
  const joinAs = async (number: number, userId: string, token: string): Promise<OwnGroup> => {
    const { group_id: groupId } = await queries
      .selectFrom('group_invites')
      .select('group_id')
      .where('project_number', '=', number)
      .where('token_hash', '=', digestToken(token))
      .executeTakeFirstOrThrow(invalidLink);
    // Before the invitation, as those who revoke it do.
    const group = await groups.lockAny(number, groupId);
    if (!group) throw invalidLink();
    const { role } = await queries
      .deleteFrom('group_invites')
      .where('project_number', '=', number)
      .where('token_hash', '=', digestToken(token))
      .where('expires_at', '>', new Date(now()))
      .where(hasLiveKey(number))
      .returning('role')
      .executeTakeFirstOrThrow(invalidLink);
    if ((await groups.findRole(number, groupId, userId)) !== undefined)
      throw new ApiError('conflict', 'You are a member of this group already.');
    await groups.checkMayJoinOneMore(number, userId);
    await checkMayGrow(number, groupId);
    await groups.addMember(number, { groupId, userId, role });
    return { ...group, role };
  };

  return {
    /**
     * Mails a link; an older one to that address ends. The answer never tells whether the address has an
     * account. @throws ApiError not_found, forbidden, group_limit
     */
    create: (
      identity: Identity,
      groupId: string,
      { email, role }: { email: string; role: string },
    ): Promise<Invite> =>
      database.transaction(async () => {
        const { project, ip, userId, keyId } = identity;
        await endedKeys.check(identity);
        const group = await groups.lock(identity, groupId);
        if (role === 'owner') checkOwns(group);
        else checkManages(group);
        await checkHasRoom(project.number, groupId, email);
        const token = newToken();
        const at = now();
        const row: InviteRow = {
          id: uuidv7(),
          email,
          role,
          created_at: new Date(at),
          expires_at: new Date(at + lifetimeMs),
        };
        const invitedBy = identity.caller === 'user' ? userId : null;
        const by = { invited_by: invitedBy, invited_with: keyId };
        const change = { ...row, ...by, token_hash: digestToken(token) };
        await queries
          .insertInto('group_invites')
          .values({ project_number: project.number, group_id: groupId, ...change })
          .onConflict((conflict) => conflict.constraint('group_invites_email').doUpdateSet(change))
          .execute();
        const inviter = userId === null ? undefined : await users.find(project.number, userId);
        await outbox.append('mail.requested', {
          projectId: project.id,
          projectNumber: project.number,
          projectName: project.name,
          ipHash: hashIp(ip).toString('hex'),
          to: email,
          name: null,
          template: 'group-invite',
          group: { name: group.name, invitedBy: inviter?.name ?? null },
          token,
          expiresAt: row.expires_at.toISOString(),
        });
        return presentInvite(row);
      }),

    /** Those that can still be followed, newest first. @throws ApiError not_found, forbidden */
    async list(identity: Identity, groupId: string): Promise<Invite[]> {
      checkManages(await groups.find(identity, groupId));
      const rows = await ofGroup(identity.project.number, groupId)
        .select(columns)
        .where('expires_at', '>', new Date(now()))
        .orderBy('id', 'desc')
        .limit(groupRoutes.maxGroupInvites)
        .execute();
      return rows.map(presentInvite);
    },

    /** @throws ApiError not_found, forbidden */
    revoke: (identity: Identity, groupId: string, id: string): Promise<void> =>
      database.transaction(async () => {
        checkManages(await groups.lock(identity, groupId));
        const unknown = () => new ApiError('not_found', 'There is no such invitation.');
        if (!isUuid(id)) throw unknown();
        await queries
          .deleteFrom('group_invites')
          .where('project_number', '=', identity.project.number)
          .where('group_id', '=', groupId)
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirstOrThrow(unknown);
      }),

    /**
     * The caller becomes a member; one of several parallel calls succeeds. What refuses the caller leaves
     * the link for another. @throws ApiError invalid_link, conflict, group_limit
     */
    join: (identity: Identity, token: string): Promise<OwnGroup> =>
      database.transaction(async () =>
        joinAs(identity.project.number, await lockCaller(users, identity), token),
      ),

    joinAs,

    /** What whoever has the link may know before they join. @throws ApiError invalid_link */
    async show(project: number, token: string) {
      const row = await queries
        .selectFrom('group_invites')
        .innerJoin('groups', (join) =>
          join
            .onRef('groups.project_number', '=', 'group_invites.project_number')
            .onRef('groups.id', '=', 'group_invites.group_id'),
        )
        .select(['groups.name', 'group_invites.role', 'invited_by', 'expires_at'])
        .where('group_invites.project_number', '=', project)
        .where('token_hash', '=', digestToken(token))
        .where('expires_at', '>', new Date(now()))
        .where(hasLiveKey(project))
        .executeTakeFirstOrThrow(invalidLink);
      const inviter = row.invited_by ? await users.find(project, row.invited_by) : undefined;
      return {
        group: { name: showName(row.name, 'a team') },
        role: row.role,
        invitedBy: inviter?.name ? showName(inviter.name, 'somebody') : null,
        expiresAt: row.expires_at.toISOString(),
      };
    },

    /** Whether somebody can join with it now. */
    async isOpen(project: number, token: string): Promise<boolean> {
      const open = await queries
        .selectFrom('group_invites')
        .select('id')
        .where('project_number', '=', project)
        .where('token_hash', '=', digestToken(token))
        .where('expires_at', '>', new Date(now()))
        .where(hasLiveKey(project))
        .executeTakeFirst();
      return open !== undefined;
    },
  };
};

export type Invites = ReturnType<typeof createInvites>;
