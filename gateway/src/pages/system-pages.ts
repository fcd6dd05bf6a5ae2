import type { IncomingMessage } from 'node:http';
import { bareApp, readinessBody } from '@backlot/http';
import type { Express, Response } from 'express';
import { consoleRouter } from '../console/console-router.ts';
import type { Description } from '../docs/description.ts';
import { docsRouter } from '../docs/docs-router.ts';
import type { HealthLooks } from '../health/health.ts';
import { packagesRouter } from '../packages/packages-router.ts';
import { accountRouter, type FindApp } from './account.ts';
import { designRouter } from './design.ts';
import { examplesRouter } from './examples.ts';
import { homeRouter } from './home.ts';
import { answerNotFound } from './not-found.ts';
import { sdkRouter } from './sdk.ts';

export interface SystemPagesOptions {
  /** Content of openapi.json. */
  apiDescription: object;
  description: Description;
  /** For agents, of every project: `/llms.txt`, `/llms-full.txt` and `/llms-owners.txt`. */
  guide: { brief: string; full: string; owners: string };
  /** Base of absolute addresses, without a slash at the end. */
  publicUrl: string;
  health: Pick<HealthLooks, 'look'>;
  /** Counts a page that is no question for health. @throws ApiError rate_limited */
  countPage(req: IncomingMessage): void;
  findApp: FindApp;
  /** Whether something is served at a host name. @throws ApiError rate_limited, unavailable */
  servesHost(name: string, req: IncomingMessage): Promise<boolean>;
}

/** Everything outside /api: health, readiness, the front page, the client and the packages, the pages of the API, of links and of the examples, and 404 for the rest. */
export const createSystemPages = (options: SystemPagesOptions): Express => {
  const app = bareApp();
  app.get('/healthz', (_req, res) => void res.json({ ok: true }));
  const state = async () => readinessBody((await options.health.look()).dependencies);
  app.get('/readyz', async (_req, res) => {
    const body = await state();
    const ok = body.missing === undefined;
    res.status(ok ? 200 : 503).json({ ok, ...body });
  });
  // What a proxy asks that orders certificates when they are needed; it asks for many addresses.
  app.get('/tls-check', async (req, res) => {
    const name = String(req.query.domain ?? '').toLowerCase();
    if (await options.servesHost(name, req)) return void res.json({ ok: true });
    answerNotFound(req, res, req.path);
  });
  app.use((req, _res, next) => {
    options.countPage(req);
    next();
  });
  app.use('/design', designRouter());
  app.use(homeRouter({ publicUrl: options.publicUrl, state }));
  app.use('/console', consoleRouter());
  app.use(sdkRouter());
  app.use('/packages', packagesRouter(options.publicUrl));
  const sendGuide = (res: Response, text: string) =>
    res.set('Cache-Control', 'public, max-age=3600').type('text/plain').send(text);
  app.get('/llms.txt', (_req, res) => void sendGuide(res, options.guide.brief));
  app.get('/llms-full.txt', (_req, res) => void sendGuide(res, options.guide.full));
  app.get('/llms-owners.txt', (_req, res) => void sendGuide(res, options.guide.owners));
  app.use('/docs', docsRouter(options.apiDescription, options.description, options.publicUrl));
  app.use('/account', accountRouter(options.findApp));
  app.use('/examples', examplesRouter());
  app.use((req, res) => answerNotFound(req, res, req.path));
  return app;
};
