import type { IncomingMessage } from 'node:http';
import { ApiError } from '@backlot/contract';
import {
  bareApp,
  mergeReadiness,
  nothingMissing,
  type Readiness,
  readinessBody,
  shareLook,
  withTimeout,
} from '@backlot/http';
import type { Express, Response } from 'express';
import { packagesRouter } from '../packages/packages-router.ts';
import { accountRouter } from './account.ts';
import { type Description, docsRouter } from './docs.ts';
import { examplesRouter } from './examples.ts';
import { findAtHost } from './guessed-pages.ts';
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
  /** Of the services. A look costs a call to each, and whoever asks needs no credential: once a second. */
  ready(): Promise<Readiness>;
  /** Names what works less well than it should. */
  degraded(): readonly string[];
  /** Counts a page that is no question for health. @throws ApiError rate_limited */
  countPage(req: IncomingMessage): void;
}

const readyTimeoutMs = 5000;

const missing = (name: string): Readiness => ({ ...nothingMissing, missing: [name] });

const checkInTime = async (check: () => Promise<Readiness>): Promise<Readiness> => {
  const checked = withTimeout(check, readyTimeoutMs).catch(() => missing('check_failed'));
  return (await checked) ?? missing('timeout');
};

/** Everything outside /api: health, readiness, the front page, the client and the packages, the pages of the API, of links and of the examples, and 404 for the rest. */
export const createSystemPages = (options: SystemPagesOptions): Express => {
  const app = bareApp();
  const look = shareLook(() => checkInTime(() => options.ready()), options.now);
  app.get('/healthz', (_req, res) => void res.json({ ok: true }));
  const state = async () =>
    mergeReadiness([await look(), { ...nothingMissing, degraded: options.degraded() }]);
  app.get('/readyz', async (_req, res) => {
    const readiness = await state();
    const ok = readiness.missing.length === 0;
    res.status(ok ? 200 : 503).json({ ok, ...readinessBody(readiness) });
  });
  app.use((req, _res, next) => {
    options.countPage(req);
    next();
  });
  app.use(homeRouter({ publicUrl: options.publicUrl, state }));
  app.use(sdkRouter());
  app.use('/packages', packagesRouter(options.publicUrl));
  const sendGuide = (res: Response, text: string) =>
    res.set('Cache-Control', 'public, max-age=3600').type('text/plain').send(text);
  app.get('/llms.txt', (_req, res) => void sendGuide(res, options.guide.brief));
  app.get('/llms-full.txt', (_req, res) => void sendGuide(res, options.guide.full));
  app.use('/docs/guides', guidesRouter(options.publicUrl));
  app.use('/docs', docsRouter(options.description));
  app.use('/account', accountRouter());
  app.use('/examples', examplesRouter());
  app.use(({ path }) => {
    throw new ApiError('route_not_found', 'There is no such address.', {
      hint:
        findAtHost(path) ??
        'The API is below /api/runtime/<project>; /docs and /llms.txt describe it. The client is /sdk.js.',
    });
  });
  return app;
};
