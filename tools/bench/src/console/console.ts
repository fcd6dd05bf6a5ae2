import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@backlot/local-servers';
import { launchChromium } from '@backlot/testing/chromium';
import { apiAt } from '@backlot/testing/platform-api';
import { startPlatform } from '../platform.ts';
import { liftLimits } from '../prepare.ts';
import { benchFirstLoad } from './first-load.ts';
import { benchGrid } from './grid.ts';
import { benchCallLog } from './log-of-calls.ts';
import type { OwnedProject } from './owned-project.ts';
import { benchStart } from './start.ts';

const port = 18_400;
const origin = `http://localhost:${port}`;

const ownProject = async (): Promise<OwnedProject> => {
  const { body: owner } = await apiAt(`${origin}/api/runtime/platform`)('POST', '/auth/signup', {
    body: { email: `${Date.now()}@example.org`, password: 'a good long password' },
  });
  const { token } = owner;
  const body = { name: 'Shop' };
  const made = await apiAt(`${origin}/api/platform`)('POST', '/projects', { token, body });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  await liftLimits(origin, made.body.id);
  return { origin, id: made.body.id, token };
};

/** In a browser, against one process on an empty database. */
const benchPages = async (folder: string, parts: ReadonlySet<string>) => {
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  const { program } = await startPlatform(port, join(folder, 'pages'), postgres.url);
  const browser = await launchChromium();
  try {
    await fetch(`${origin}/console/`);
    const project = await ownProject();
    if (parts.has('load')) await benchFirstLoad(browser, project);
    if (parts.has('grid')) await benchGrid(browser, project);
  } finally {
    await browser.close();
    await program.stop();
    await postgres.stop();
  }
};

const all = ['load', 'grid', 'start', 'log'];

/** The console in a browser, what it costs the start, and what the log of calls costs the gateway. */
export const benchConsole = async (args: readonly string[]): Promise<void> => {
  const parts = new Set(args.length > 0 ? args : all);
  const wrong = [...parts].find((part) => !all.includes(part));
  if (wrong !== undefined) throw new Error(`There is no part ${wrong}, but ${all.join(', ')}.`);
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  try {
    if (parts.has('load') || parts.has('grid')) await benchPages(folder, parts);
    if (parts.has('start')) await benchStart(folder);
    if (parts.has('log')) await benchCallLog(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
