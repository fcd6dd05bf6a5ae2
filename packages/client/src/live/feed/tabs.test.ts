import { readFile } from 'node:fs/promises';
import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, it } from '@jest/globals';
import { startLiveServer, toToken } from '../../testing/live-server.ts';

/** What a test keeps in a tab. */
interface Tab {
  titles: string[];
  // biome-ignore lint/suspicious/noExplicitAny: the client as a page without types has it
  client: any;
}

const readModule = (name: string) => readFile(new URL(`../../../${name}`, import.meta.url), 'utf8');

let server: Awaited<ReturnType<typeof startLiveServer>>;
let browser: Awaited<ReturnType<typeof launchChromium>>;
beforeAll(async () => {
  browser = await launchChromium();
  server = await startLiveServer({
    '/': '<!doctype html><title>App</title>',
    '/sdk.js': await readModule('sdk.js'),
    '/sdk-live.js': await readModule('sdk-live.js'),
  });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const openTabs = async () => {
  const context = await browser.newContext();
  const origin = new URL(server.url).origin;
  const open = async (options: object = {}, collection = 'cards') => {
    const page = await context.newPage();
    await page.goto(`${origin}/`);
    await page.evaluate(
      async ([url, given, name]) => {
        const { createClient } = await import('/sdk.js' as string);
        const tab = globalThis as unknown as Tab;
        tab.client = createClient(url);
        tab.titles = [];
        tab.client
          .db(name)
          .live({ sort: 'title', ...(given as object) }, (items: { title: string }[]) => {
            tab.titles = items.map(({ title }) => title);
          });
      },
      [server.url, options, collection] as const,
    );
    const shows = (...titles: string[]) =>
      until(
        async () => {
          const shown = await page.evaluate(() => (globalThis as unknown as Tab).titles);
          return JSON.stringify(shown) === JSON.stringify(titles);
        },
        { what: `${titles}` },
      );
    return { page, shows };
  };
  return { context, open };
};

it('tabs share one stream, and another reads it when the first is closed', async () => {
  const { context, open } = await openTabs();
  server.create('cards', { title: 'a', column: 'todo' });
  const first = await open();
  await first.shows('a');
  const second = await open({ where: { column: 'done' } });
  const third = await open({}, 'notes');
  await Promise.all([second.shows(), third.shows()]);
  server.create('cards', { title: 'b', column: 'done' });
  server.create('notes', { title: 'n' });
  await Promise.all([first.shows('a', 'b'), second.shows('b'), third.shows('n')]);
  const isOne = () => server.streams.size === 1;
  await until(isOne, { what: 'one stream' });

  await first.page.close();
  server.create('cards', { title: 'c', column: 'done' });
  await second.shows('b', 'c');
  server.create('notes', { title: 'o' });
  await third.shows('n', 'o');
  await until(isOne, { what: 'one stream' });
  await context.close();
});

it('all tabs follow who signs in in one, and one where nothing can be shared has a stream of its own', async () => {
  const { context, open } = await openTabs();
  await context.addInitScript((token) => {
    // biome-ignore lint/suspicious/noExplicitAny: of the page
    (globalThis as any).ada = token;
  }, toToken('ada'));
  const [first, second] = [await open({}, 'todos'), await open({}, 'todos')];
  await Promise.all([first.shows(), second.shows()]);
  // Lists begin to watch once the module is there.
  await second.page.waitForFunction(() => (globalThis as unknown as Tab).client.transport.watcher);
  // As a sign-in does, which other tabs are told of.
  await second.page.evaluate((url) => {
    // biome-ignore lint/suspicious/noExplicitAny: of the page
    const page = globalThis as any;
    page.localStorage.setItem(`backlot ${url}`, page.ada);
    page.client.transport.watcher.userChanged();
  }, server.url);
  server.create('todos', { title: 'x' }, 'ada');
  await Promise.all([first.shows('x'), second.shows('x')]);
  await until(() => server.streams.size === 1, { what: 'one stream' });

  await context.addInitScript(() => {
    Object.defineProperty(globalThis.navigator, 'locks', { value: undefined });
  });
  const alone = await open({}, 'todos');
  await alone.shows('x');
  await until(() => server.streams.size === 2, { what: 'one more stream' });
  server.create('todos', { title: 'y' });
  await Promise.all([first.shows('x', 'y'), alone.shows('x', 'y')]);
  await context.close();
});
