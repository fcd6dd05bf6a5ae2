import type { SessionDirectory } from '@backlot/contract';
import { gatewayOnly } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import { Router } from 'express';
import { z } from 'zod';

const sessionPath = z.object({
  projectNumber: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  sessionId: z.uuid(),
});

/** The gateway's own questions: `GET /internal/sessions/<project number>/<session id>` -> `{live}`. */
export const internalRoutes = (
  sessions: SessionDirectory,
  secret: IdentitySecret,
  now: () => number,
): Router => {
  const router = Router();
  router.use(gatewayOnly(secret, now));
  router.get('/sessions/:projectNumber/:sessionId', async (req, res) => {
    const path = sessionPath.safeParse(req.params);
    const live =
      path.success && (await sessions.isLive(path.data.projectNumber, path.data.sessionId));
    res.json({ live });
  });
  return router;
};
