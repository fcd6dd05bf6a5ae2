import type { EventPayloads, NoticeKind, SignInEventKind } from '@backlot/contract';
import type { Outbox } from '@backlot/database';
import { type EventCaller, toPlace } from './place.ts';

const noticeKinds: Partial<Record<SignInEventKind, NoticeKind>> = {
  password_changed: 'password-changed',
  factor_added: 'factor-added',
  factor_removed: 'factor-removed',
  recovery_codes_renewed: 'factor-added',
  passkey_added: 'passkey-added',
  passkey_removed: 'passkey-removed',
  identity_linked: 'identity-linked',
  identity_removed: 'identity-removed',
};

/** Whoever signs in so has the mailbox, or had no account before. */
const untoldMethods = ['sign-up', 'code', 'guest'];

/** What a user with a verified address is told by mail. */
export const createNotices = (outbox: Outbox<EventPayloads>, now: () => number) => ({
  /** Belongs into the transaction of what happened. */
  async request(
    caller: EventCaller,
    user: { email: string; name: string | null },
    event: { kind: SignInEventKind; detail: string | null; isNewDevice: boolean },
  ): Promise<void> {
    const { kind, detail, isNewDevice } = event;
    const isToldDevice = isNewDevice && !untoldMethods.includes(detail ?? '');
    const notice = isToldDevice ? 'new-device' : noticeKinds[kind];
    if (notice === undefined) return;
    const { project } = caller;
    await outbox.append('notice.requested', {
      projectId: project.id,
      projectNumber: project.number,
      projectName: project.name,
      to: user.email,
      name: user.name,
      kind: notice,
      detail,
      ...toPlace(caller),
      at: new Date(now()).toISOString(),
    });
  },
});
