import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { launchChromium } from '@backlot/testing/chromium';
import { installPackages } from '@backlot/testing/install-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const guides = new URL('../../../docs/guides/', import.meta.url);
const client = fileURLToPath(new URL('../../../packages/client/', import.meta.url));
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

describe('the quick starts', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let folder: string;
  const problems: string[] = [];
  const site = createServer((req, res) => {
    const path = req.url?.endsWith('/') ? `${req.url}index.html` : String(req.url);
    res.setHeader('Content-Type', types[extname(path)] ?? 'text/css');
    createReadStream(join(folder, path))
      .on('error', () => res.writeHead(404).end())
      .pipe(res);
  });
  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
    folder = await installPackages(new URL('../packages/quick-starts/', import.meta.url));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    site.close();
    await platform?.stop();
    await rm(folder, { recursive: true });
  });

  /** The block of a guide in one language, for a new project. */
  const code = async (guide: string, language: string): Promise<string> => {
    const { id } = await platform.newProject();
    const text = await readFile(new URL(`quick-start-${guide}.md`, guides), 'utf8');
    const [, block] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(text) ?? [];
    if (block === undefined) throw new Error(`${guide} has no block of ${language}.`);
    return block
      .replaceAll('https://backlot.example/api/runtime/demo', `${platform.url}/api/runtime/${id}`)
      .replaceAll('https://backlot.example', platform.url);
  };
  const open = async (address: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(address);
    return page;
  };
  /** Two windows show what either adds. */
  const works = async (address: string) => {
    const [one, other] = [await open(address), await open(address)];
    for (const [from, to, title] of [
      [one, other, 'Buy milk'],
      [other, one, '<b>Call Bob</b>'],
    ] as const) {
      await from.getByLabel('New to-do').fill(title);
      await from.getByRole('button', { name: 'Add' }).click();
      for (const page of [from, to])
        await page.getByRole('listitem').filter({ hasText: title }).waitFor();
    }
    await other.reload();
    await other.getByRole('listitem').nth(1).waitFor();
    expect(await other.getByRole('listitem').allInnerTexts()).toEqual([
      '<b>Call Bob</b>',
      'Buy milk',
    ]);
    expect(problems).toEqual([]);
  };

  it('plain HTML is one file that works from a disk and from a server', async () => {
    const file = join(folder, 'page.html');
    await writeFile(file, await code('html', 'html'));
    await works(`http://127.0.0.1:${(site.address() as AddressInfo).port}/page.html`);
    await writeFile(file, await code('html', 'html'));
    await works(pathToFileURL(file).href);
  });

  it.each([
    ['react', 'jsx', 'App.jsx'],
    ['vue', 'vue', 'App.vue'],
  ])('%s, built by Vite, is live', async (name, language, file) => {
    const root = join(folder, name);
    await writeFile(join(root, 'src', file), await code(name, language));
    await promisify(execFile)(
      join(folder, 'node_modules/.bin/vite'),
      ['build', root, '--config', join(folder, 'vite.config.js')],
      { cwd: folder, env: { ...process.env, BACKLOT_CLIENT: client } },
    );
    await works(`http://127.0.0.1:${(site.address() as AddressInfo).port}/${name}/dist/`);
  });
});
