import { type EventPayloads, nobody, platformProject } from '@backlot/contract';
import type { Outbox } from '@backlot/database';
import { createTellApp } from '@backlot/service';
import type { Account, UserRow } from './user-row.ts';

export type UserEvents = ReturnType<typeof createUserEvents>;

/** What others are told of users. Belongs into the transaction of what has happened. */
export const createUserEvents = (outbox: Outbox<EventPayloads>, now: () => number) => {
  const tellApp = createTellApp(outbox, now);
  const tell = (
    projectNumber: number,
    type: 'user.created' | 'user.verified' | 'user.erased',
    { id, email, name }: Pick<UserRow, 'id' | 'email' | 'name'>,
  ) =>
    tellApp({
      projectNumber,
      type,
      orderKey: `user/${id}`,
      data: { userId: id, ...(type !== 'user.erased' && { email, name }) },
      userId: type === 'user.erased' ? null : id,
    });

  const publishVerified = (project: number, { id, email }: { id: string; email: string }) =>
    outbox.append('user.verified', { projectNumber: project, userId: id, email });

  return {
    tell,
    publishVerified,

    /** What was shared with the address is its former holder's no more. */
    async tellReleased(project: number, email: string): Promise<void> {
      if (project !== platformProject.number) await publishVerified(project, { id: nobody, email });
    },

    tellCreated: (project: number, account: Account) => tell(project, 'user.created', account),

    publishChange: (project: number, userIds: string[]) =>
      outbox.append('user.changed', { projectNumber: project, userIds }),
  };
};
