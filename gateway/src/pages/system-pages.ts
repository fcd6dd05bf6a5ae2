import type { IncomingMessage } from 'node:http';
import { ApiError } from '@backlot/contract';
import { bareApp } from '@backlot/http';
import type { Express, Response } from 'express';
import { accountRouter } from './account.ts';
import { type Description, docsRouter } from './docs.ts';
import { examplesRouter } from './examples.ts';
import { guidesRouter } from './guides.ts';
import { homeRouter } from './home.ts';
import { sdkRouter } from './sdk.ts';

export interface SystemPagesOptions {
  description: Description;
  /** For agents, of every project: `/llms.txt` and `/llms-full.txt`. */
  guide: { brief: string; full: string };
  /** Base of absolute addresses, without a slash at the end. */
  publicUrl: string;
  /** Epoch milliseconds. */
  now: () => number;
  /** Names of services that can't answer; empty when calls can be served. */
  unreadyServices(): Promise<readonly string[]>;
  /** Names what works less well than it should. */
  degraded(): readonly string[];
  /** Counts a page that is no question for health. @throws ApiError rate_limited */
  countPage(req: IncomingMessage): void;
}

const readyTimeoutMs = 5000;

const withTimeout = async (check: Promise<readonly string[]>): Promise<readonly string[]> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve(['timeout']), readyTimeoutMs);
  });
  return Promise.race([check.catch(() => ['check_failed']), late]).finally(() =>
    clearTimeout(timer),
  );
};

/** A look costs a call to each service, and whoever asks needs no credential. */
const readyMs = 1000;

/** Calls share a look while it goes on, and for a second afterwards. */
const createLook = ({ unreadyServices, now }: SystemPagesOptions) => {
  let look: Promise<readonly string[]> | undefined;
  let isOver = false;
  let overAt = 0;
  return () => {
    if (look && (!isOver || now() - overAt < readyMs)) return look;
    isOver = false;
    look = withTimeout(unreadyServices()).finally(() => {
      isOver = true;
      overAt = now();
    });
    return look;
  };
};

/** Everything outside /api: health, readiness, the front page, the client, the pages of the API, of links and of the examples, and 404 for the rest. */
export const createSystemPages = (options: SystemPagesOptions): Express => {
  const app = bareApp();
  const look = createLook(options);
  app.get('/healthz', (_req, res) => void res.json({ ok: true }));
  const state = async () => ({
    missing: await look(),
    degraded: options.degraded(),
  });
  app.get('/readyz', async (_req, res) => {
    const { missing, degraded } = await state();
    if (missing.length > 0) res.status(503).json({ ok: false, missing });
    else res.json({ ok: true, ...(degraded.length > 0 && { degraded }) });
  });
  app.use((req, _res, next) => {
    options.countPage(req);
    next();
  });
  app.use(homeRouter({ publicUrl: options.publicUrl, state }));
  app.use(sdkRouter());
  const sendGuide = (res: Response, text: string) =>
    res.set('Cache-Control', 'public, max-age=3600').type('text/plain').send(text);
  app.get('/llms.txt', (_req, res) => void sendGuide(res, options.guide.brief));
  app.get('/llms-full.txt', (_req, res) => void sendGuide(res, options.guide.full));
  app.use('/docs/guides', guidesRouter(options.publicUrl));
  app.use('/docs', docsRouter(options.description));
  app.use('/account', accountRouter());
  app.use('/examples', examplesRouter());
  app.use(() => {
    throw new ApiError('route_not_found', 'There is no such address.', {
      hint: 'The API is below /api/runtime/<project>; /docs and /llms.txt describe it. The client is /sdk.js.',
    });
  });
  return app;
};
