import { emailRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Sending } from '../sending.ts';

export const sendEmail = (sending: Sending) =>
  route(emailRoutes.sendEmail, async ({ identity, body }) => {
    const usedMillicredits = await sending.send(identity, body);
    return {
      body: { ok: true as const },
      ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
    };
  });
