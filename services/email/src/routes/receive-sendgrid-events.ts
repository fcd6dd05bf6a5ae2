import { ApiError, emailRoutes, platformProject } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Bounces } from '../bounces/bounces.ts';
import {
  parseSendgridEvent,
  type SignedEvents,
  signatureHeader,
  timestampHeader,
} from '../bounces/sendgrid-events.ts';

/** @param check undefined where mails are not sent through SendGrid */
export const receiveSendgridEvents = (
  bounces: Bounces,
  check: ((signed: SignedEvents) => void) | undefined,
) =>
  route(emailRoutes.receiveSendgridEvents, async ({ identity, body, rawBody, header }) => {
    if (!check || identity.project.id !== platformProject.id)
      throw new ApiError('not_found', 'This address receives no events of SendGrid.');
    check({
      signature: header(signatureHeader),
      timestamp: header(timestampHeader),
      body: rawBody.text,
    });
    await bounces.record(body.flatMap((event) => parseSendgridEvent(event) ?? []));
    return { body: { ok: true as const } };
  });
