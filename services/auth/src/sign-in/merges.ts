import { ApiError, type EventPayloads, type ProjectSettings } from '@backlot/contract';
import { createQueries, type Database, type Outbox, workLeft } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { createTellApp } from '@backlot/service';
import type { Sessions } from '../sessions/sessions.ts';
import type { SignInEvents } from '../sign-in-events/sign-in-events.ts';
import type { DB as Tables } from '../tables.ts';
import { moveGroups } from '../users/hand-over.ts';
import { sessionEnded } from '../users/refusals.ts';
import { type Account, presentBlock } from '../users/user-row.ts';
import type { Users } from '../users/users.ts';
import { isFactorRequired } from './required-factor.ts';

/** By then every write of the guest that was under way has ended: a signed identity is good for 30 seconds. */
const tellAgainMs = 2 * 60_000;
/** Told again in one transaction. */
const batchSize = 100;

const noGuest = () =>
  new ApiError('forbidden', 'There is no guest to merge: the token of this call is no guest’s.', {
    hint: '"merge": true goes with the token of the guest. An account with an address is merged with no other.',
  });

/** Whether the account is the guest's who calls. */
export const isUpgraded = (
  { userId }: Identity,
  { account, isNew }: { account: Account; isNew: boolean },
): boolean => isNew && userId === account.id;

interface MergeOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  users: Users;
  sessions: Pick<Sessions, 'endAll'>;
  signInEvents: Pick<SignInEvents, 'add'>;
  now: () => number;
}

/** Makes a guest's account part of a user's. */
export const createMerges = ({
  database,
  outbox,
  users,
  sessions,
  signInEvents,
  now,
}: MergeOptions) => {
  const queries = createQueries<Tables>(database);
  const tellApp = createTellApp(outbox, now);

  const checkNotBlocked = (account: Account, whose: string) => {
    if (presentBlock(account, now()))
      throw new ApiError('blocked', `${whose} is blocked: nothing is merged.`);
  };

  /** @throws ApiError conflict, blocked, verify_first, factor_first */
  const checkMayTake = (
    project: Identity['project'],
    user: Account,
    hasSecondFactor: boolean,
  ): void => {
    const { mustVerify } = project.settings as ProjectSettings;
    if (user.is_guest)
      throw new ApiError('conflict', 'A guest is merged with an account, not with another guest.');
    checkNotBlocked(user, 'The account');
    if (mustVerify && !user.email_verified)
      throw new ApiError('verify_first', 'Verify the address of the account, then merge.');
    if (!hasSecondFactor && isFactorRequired(project, user))
      throw new ApiError('factor_first', 'Set up the second factor of the account, then merge.');
  };

  /** Locked as for the end of the account. @throws ApiError forbidden, invalid_token, blocked */
  const lockGuest = async (identity: Identity): Promise<string> => {
    const { caller, userId, project } = identity;
    if (caller !== 'user' || userId === null) throw noGuest();
    const locked = await queries
      .selectFrom('users')
      .select('is_guest')
      .where('project_number', '=', project.number)
      .where('id', '=', userId)
      .forUpdate()
      .executeTakeFirstOrThrow(sessionEnded);
    if (!locked.is_guest) throw noGuest();
    await users.findBySession(identity);
    const guest = await users.find(project.number, userId);
    if (guest) checkNotBlocked(guest, 'The guest');
    return userId;
  };

  const tell = async ({ id, number }: Identity['project'], guestId: string, userId: string) => {
    await queries
      .insertInto('merges')
      .values({
        project_number: number,
        project_id: id,
        guest_id: guestId,
        user_id: userId,
        merged_at: new Date(now()),
      })
      .execute();
    const ids = { guestId, userId };
    await outbox.append('user.merged', { projectId: id, projectNumber: number, ...ids });
    await tellApp({
      projectNumber: number,
      type: 'user.merged',
      orderKey: `user/${userId}`,
      data: ids,
      userId,
    });
  };

  const isThere = async (project: number, id: string) =>
    (await users.find(project, id)) !== undefined;

  return {
    /**
     * What is the calling guest's becomes the user's, who has just shown that the account is theirs. Belongs into
     * the transaction of that, and leaves nothing that the guest could sign in to.
     * @throws ApiError forbidden, invalid_token, conflict, blocked, verify_first, factor_first
     */
    async into(
      identity: Identity,
      userId: string,
      { hasSecondFactor }: { hasSecondFactor: boolean },
    ): Promise<void> {
      const { project } = identity;
      const { number } = project;
      const user = await users.lockAndRead(number, userId);
      if (!user) throw sessionEnded();
      const guestId = await lockGuest(identity);
      checkMayTake(project, user, hasSecondFactor);
      const hasMoved = await moveGroups(database, number, guestId, userId);
      await sessions.endAll(number, guestId);
      await queries
        .deleteFrom('users')
        .where('project_number', '=', number)
        .where('id', '=', guestId)
        .execute();
      if (hasMoved) await users.publishChange(number, [userId]);
      await signInEvents.add(identity, userId, { kind: 'guest_merged', detail: guestId });
      await tell(project, guestId, userId);
    },

    /**
     * A batch of what was merged two minutes ago. Of a user who was erased meanwhile the guest's is erased too, and
     * what had become the user's by then.
     */
    tellAgain: (): Promise<typeof workLeft | undefined> =>
      database.transaction(async () => {
        const told = await database.query<Tables['merges']>(
          `DELETE FROM merges WHERE (project_number, guest_id) IN (
             SELECT project_number, guest_id FROM merges WHERE merged_at <= $1
              ORDER BY merged_at LIMIT ${batchSize} FOR UPDATE SKIP LOCKED) RETURNING *`,
          [new Date(now() - tellAgainMs)],
        );
        for (const { project_id: projectId, project_number: number, ...ids } of told) {
          const { guest_id: guestId, user_id: userId } = ids;
          const project = { projectId, projectNumber: number };
          if (await isThere(number, userId))
            await outbox.append('user.merged', { ...project, guestId, userId });
          else
            for (const id of [guestId, userId])
              await outbox.append('user.erased', { ...project, userId: id, email: null });
        }
        return told.length === batchSize ? workLeft : undefined;
      }),
  };
};

export type Merges = ReturnType<typeof createMerges>;
