import { ApiError, emailRoutes, platformProject } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Reports } from '../reports.ts';
import { type SignedEvents, signatureHeader, timestampHeader } from '../sendgrid-signature.ts';

/** @param check undefined where mails go another way */
export const receiveSendgridEvents = (
  reports: Reports,
  check: ((signed: SignedEvents) => void) | undefined,
) =>
  route(emailRoutes.receiveSendgridEvents, async ({ identity, body, sent, header }) => {
    if (!check || identity.project.id !== platformProject.id)
      throw new ApiError('not_found', 'No events of SendGrid are expected here.');
    check({
      signature: header(signatureHeader),
      timestamp: header(timestampHeader),
      body: sent.text,
    });
    await reports.take(body);
    return { body: { ok: true as const } };
  });
