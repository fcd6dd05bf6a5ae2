import { quantile } from '../load/load.ts';
import { type Browser, type OwnedProject, openPage } from './owned-project.ts';

const records = 100_000;
const frames = 1200;

const partLines = 5000;

const fill = async ({ origin, id, token }: OwnedProject) => {
  for (let sent = 0; sent < records; ) {
    const count = Math.min(partLines, records - sent);
    const lines = Array.from({ length: count }, (_, line) => {
      const n = sent + line;
      return JSON.stringify({ n, title: `Order ${n}`, status: ['open', 'done', 'late'][n % 3] });
    });
    const answer = await fetch(`${origin}/api/runtime/${id}/db/orders/_import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
    if (!answer.ok) throw new Error(await answer.text());
    const { next } = (await answer.json()) as { next: number | null };
    sent += next === null ? count : next - 1;
  }
};

const idleFrames = `new Promise((resolve) => {
  const times = [];
  let last = performance.now();
  const next = (now) => {
    times.push(now - last);
    last = now;
    if (times.length < 100) requestAnimationFrame(next);
    else resolve(times.slice(1));
  };
  requestAnimationFrame(next);
})`;

/** As far in each frame as it takes to be at the end with the last one. */
const scrollToEnd = `new Promise((resolve) => {
  const grid = document.querySelector('[role="grid"]');
  const step = (grid.scrollHeight - grid.clientHeight) / ${frames};
  const times = [];
  let last = performance.now();
  const next = (now) => {
    times.push(now - last);
    last = now;
    grid.scrollTop += step;
    if (times.length < ${frames}) requestAnimationFrame(next);
    else resolve(times.slice(1));
  };
  requestAnimationFrame(next);
})`;

/** Frames while the grid of many records is scrolled from the first to the last. */
export const benchGrid = async (browser: Browser, project: OwnedProject): Promise<void> => {
  await fill(project);
  const page = await openPage(browser, project);
  await page.goto(`${project.origin}/console/projects/${project.id}/data/orders`);
  await page.getByRole('gridcell', { name: `Order ${records - 1}`, exact: true }).waitFor();
  const heap = () => page.evaluate<number>('performance.memory.usedJSHeapSize / 2 ** 20');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const spent = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const read = (name: string) => metrics.find((one) => one.name === name)?.value ?? 0;
    return {
      scripts: read('ScriptDuration'),
      looks: read('LayoutDuration') + read('RecalcStyleDuration'),
    };
  };
  const before = await heap();
  const still = quantile(await page.evaluate<number[]>(idleFrames), 0.5);
  const from = await spent();
  const times = await page.evaluate<number[]>(scrollToEnd);
  const to = await spent();
  await page.getByRole('button', { name: 'To the last' }).click();
  await page.getByRole('gridcell', { name: 'Order 0', exact: true }).waitFor();
  const [p50, p95] = [0.5, 0.95].map((part) => quantile(times, part).toFixed(1));
  const slow = times.filter((time) => time > 50).length;
  console.log(
    `grid of ${records} records, scrolled to its end in ${times.length} frames: p50 ${p50} ms (${still.toFixed(1)} while nothing moves), p95 ${p95} ms, longest ${Math.max(...times).toFixed(0)} ms; ${slow} above 50 ms; heap ${before.toFixed(0)} MiB before, ${(await heap()).toFixed(0)} after`,
  );
  const perFrame = (seconds: number) => ((seconds * 1000) / times.length).toFixed(1);
  console.log(
    `  of a frame: scripts ${perFrame(to.scripts - from.scripts)} ms, style and layout ${perFrame(to.looks - from.looks)} ms`,
  );
  await page.context().close();
};
