import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { median } from '../load/load.ts';
import { type Browser, type OwnedProject, openPage } from './owned-project.ts';

const rounds = 5;
const slowDown = 4;
/** No long task may come in this time. */
const quietMs = 2000;

const countBytes = async (origin: string) => {
  const page = await (await fetch(`${origin}/console/`)).text();
  const links = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, link]) => link);
  let bytes = 0;
  for (const link of new Set(links)) {
    const answer = await fetch(origin + link, { headers: { 'accept-encoding': 'identity' } });
    bytes += gzipSync(Buffer.from(await answer.arrayBuffer())).length;
  }
  return bytes;
};

const watchLongTasks = `
  window.longTasksEnd = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      window.longTasksEnd = Math.max(window.longTasksEnd, startTime + duration);
  }).observe({ type: 'longtask', buffered: true });
`;

/** Until a screen shows what it has, and nothing keeps it from answering. */
const interactiveMs = async (browser: Browser, project: OwnedProject, rate: number) => {
  const page = await openPage(browser, project);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate });
  await page.addInitScript(watchLongTasks);
  await page.goto(`${project.origin}/console/projects/${project.id}/data`, { waitUntil: 'commit' });
  await page.getByRole('heading', { name: 'Create your first collection' }).waitFor();
  const shownAt = await page.evaluate<number>('performance.now()');
  const readQuietMs = `performance.now() - Math.max(${shownAt}, window.longTasksEnd)`;
  while ((await page.evaluate<number>(readQuietMs)) < quietMs) await pause(100);
  const endedAt = await page.evaluate<number>('window.longTasksEnd');
  await page.context().close();
  return Math.max(shownAt, endedAt);
};

/** What comes before the first screen, and how long it takes with an empty cache. */
export const benchFirstLoad = async (browser: Browser, project: OwnedProject): Promise<void> => {
  const bytes = await countBytes(project.origin);
  console.log(`first load: ${(bytes / 1024).toFixed(1)} KB gzipped (bound: 200)`);
  const times = new Map<number, number[]>([
    [1, []],
    [slowDown, []],
  ]);
  for (let round = 0; round < rounds; round++)
    for (const [rate, measured] of times)
      measured.push(await interactiveMs(browser, project, rate));
  for (const [rate, measured] of times)
    console.log(
      `interactive, CPU slowed down ${rate} times: ${median(measured).toFixed(0)} ms (median of ${rounds})`,
    );
};
