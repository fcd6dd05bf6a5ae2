import { type EventPayloads, isUuid } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { IdentityProject } from '@backlot/identity';
import type { DB as Tables } from '../tables.ts';
import type { BlockedAddresses } from './blocked-addresses.ts';
import { leaveAllGroups } from './hand-over.ts';
import { unknownUser } from './refusals.ts';
import type { UserEvents } from './user-events.ts';
import { presentBlock } from './user-row.ts';

export interface EraseUserDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  events: UserEvents;
  blockedAddresses: BlockedAddresses;
  now: () => number;
}

export const createEraseUser = ({
  database,
  outbox,
  events,
  blockedAddresses,
  now,
}: EraseUserDeps) => {
  const queries = createQueries<Tables>(database);
  /** Everything of the account goes with it. @throws ApiError not_found */
  return async (project: Pick<IdentityProject, 'id' | 'number'>, id: string): Promise<void> => {
    await database.transaction(async () => {
      if (!isUuid(id)) throw unknownUser();
      const locked = await queries
        .selectFrom('users')
        .select(['email', 'email_verified', 'blocked_at', 'blocked_until', 'block_reason'])
        .where('project_number', '=', project.number)
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirstOrThrow(unknownUser);
      const sessions = await queries
        .deleteFrom('sessions')
        .where('project_number', '=', project.number)
        .where('user_id', '=', id)
        .returning('id')
        .execute();
      if (locked.email !== null && presentBlock(locked, now()))
        await blockedAddresses.keep(project.number, locked.email, locked.blocked_until);
      const newOwners = await leaveAllGroups(database, project.number, id);
      await queries
        .deleteFrom('users')
        .where('project_number', '=', project.number)
        .where('id', '=', id)
        .execute();
      if (newOwners.length > 0) await events.publishChange(project.number, newOwners);
      const sessionIds = sessions.map((session) => session.id);
      if (sessionIds.length > 0)
        await outbox.append('session.revoked', { projectNumber: project.number, sessionIds });
      if (locked.email !== null)
        await events.tell(project.number, 'user.erased', { id, email: locked.email, name: null });
      await outbox.append('user.erased', {
        projectId: project.id,
        projectNumber: project.number,
        userId: id,
        email: locked.email,
        emailVerified: locked.email_verified,
      });
    });
  };
};
