import { ApiError } from '@backlot/contract';
import { bareApp, errorHandler, type FailureLog } from '@backlot/http';
import type { Express } from 'express';
import { accountRouter } from './account.ts';
import { type Description, docsRouter } from './docs.ts';

export interface ShellOptions {
  description: Description;
  /** Names what is out of reach; empty when calls can be served. */
  missing(): Promise<readonly string[]>;
  /** Names what works less well than it should. */
  degraded(): readonly string[];
  log: FailureLog;
}

/** After this an answer to the question for readiness is no longer waited for. */
const readyTimeoutMs = 5000;

const inTime = async (missing: Promise<readonly string[]>): Promise<readonly string[]> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve(['an answer in time']), readyTimeoutMs);
  });
  return Promise.race([missing.catch(() => ['a check that failed']), late]).finally(() =>
    clearTimeout(timer),
  );
};

/** Everything outside /api: health, readiness, the pages of the API and of links, and 404 for the rest. */
export const createShell = ({ description, missing, degraded, log }: ShellOptions): Express => {
  const app = bareApp();
  app.get('/healthz', (_req, res) => void res.json({ ok: true }));
  app.get('/readyz', async (_req, res) => {
    const absent = await inTime(missing());
    const impaired = degraded();
    if (absent.length === 0)
      res.json({ ok: true, ...(impaired.length > 0 && { degraded: impaired }) });
    else res.status(503).json({ ok: false, missing: absent });
  });
  app.use('/docs', docsRouter(description));
  app.use('/account', accountRouter());
  app.use(() => {
    throw new ApiError('route_not_found', 'There is no such address.', {
      hint: 'The API is below /api/runtime/<project>; /docs describes it.',
    });
  });
  app.use(errorHandler(log));
  return app;
};
