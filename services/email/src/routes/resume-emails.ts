import { emailRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Reports } from '../reports.ts';

export const resumeEmails = (reports: Reports) =>
  route(emailRoutes.resumeEmails, async ({ identity }) => {
    await reports.resume(identity.project.number);
    return { body: { ok: true as const } };
  });
