import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { launchChromium } from '@backlot/testing/chromium';
import { installIn } from '@backlot/testing/install-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const run = promisify(execFile);
const app = fileURLToPath(new URL('../../../examples/react-todo', import.meta.url));
const cli = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

describe('the to-do list in React', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let folder: string;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const problems: string[] = [];
  const site = createServer(async (req, res) => {
    const path = req.url === '/' ? '/index.html' : String(req.url);
    res.setHeader('Content-Type', types[extname(path)] ?? 'text/css');
    res.end(await readFile(join(folder, 'dist', path)));
  });

  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
    project = await platform.newProject();
    folder = await mkdtemp(join(tmpdir(), 'backlot-react-'));
    await installIn(app);
    await run(join(app, 'node_modules/.bin/vite'), ['build', '--outDir', join(folder, 'dist')], {
      cwd: app,
      env: { ...process.env, VITE_BACKLOT_URL: `${platform.url}/api/runtime/${project.id}` },
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    site.close();
    await platform?.stop();
    await rm(folder, { recursive: true });
  });

  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    return page;
  };
  const enter = async (page: Page, way: 'Sign in' | 'Sign up', password: string) => {
    await page.getByLabel('E-mail').fill('ada@example.org');
    await page.getByLabel('Password').fill(password);
    const toSignUp = page.getByRole('button', { name: 'New here? Sign up' });
    if (way === 'Sign up' && (await toSignUp.isVisible())) await toSignUp.click();
    await page.getByRole('button', { name: way, exact: true }).click();
  };
  const add = async (page: Page, title: string) => {
    await page.getByLabel('New to-do').fill(title);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('listitem').filter({ hasText: title }).waitFor();
  };
  const titles = (page: Page) => page.getByRole('listitem').locator('label').allTextContents();

  it('signs up, adds, ticks, filters and deletes, from another origin, and stays after a reload', async () => {
    const page = await open();
    await enter(page, 'Sign up', 'short');
    await page.getByRole('alert').filter({ hasText: 'password' }).waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.org');
    await enter(page, 'Sign up', 'a good long password');
    await page.getByText('Nothing here.').waitFor();
    await add(page, 'Buy milk');
    await add(page, 'Call <b>Bob</b>');
    await page.getByLabel('Buy milk', { exact: true }).click();
    await page.getByRole('listitem').locator('s').getByText('Buy milk').waitFor();

    await page.getByLabel('Open').check();
    await page.getByText('Buy milk').waitFor({ state: 'detached' });
    await page.getByText('Call <b>Bob</b>').waitFor();
    expect(await titles(page)).toEqual([' Call <b>Bob</b>']);
    await page.getByLabel('Done').check();
    await page.getByText('Call').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete Buy milk' }).click();
    await page.getByText('Nothing here.').waitFor();

    await page.reload();
    await page.getByText('Call <b>Bob</b>').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await enter(page, 'Sign in', 'not the password');
    await page.getByRole('alert').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('shows what is changed elsewhere, and what went wrong with its hint', async () => {
    const page = await open();
    await enter(page, 'Sign in', 'a good long password');
    await page.getByText('Call <b>Bob</b>').waitFor();
    const elsewhere = await open();
    await enter(elsewhere, 'Sign in', 'a good long password');
    await add(elsewhere, 'Rest');
    await page.getByText('Rest').waitFor();

    await platform.control('PUT', `/projects/${project.id}/collections/todos`, {
      token: project.owner.token,
      body: { access: { read: ['users'], create: ['role:staff'], change: ['owner'] } },
    });
    await page.getByLabel('New to-do').fill('Not allowed');
    await page.getByRole('button', { name: 'Add' }).click();
    const alert = page.getByRole('alert');
    await alert.filter({ hasText: 'role:staff' }).waitFor();
    expect(await alert.textContent()).toContain('forbidden');
    expect(await page.getByLabel('New to-do').inputValue()).toBe('Not allowed');
    await page.getByRole('button', { name: 'Close' }).click();
    await alert.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('hooks hear what is said in a channel, and show who is there', async () => {
    await platform.control('PATCH', `/projects/${project.id}`, {
      token: project.owner.token,
      body: { settings: { channels: { room: { listen: ['anyone'], broadcast: ['anyone'] } } } },
    });
    const source = join(folder, 'hooks');
    await mkdir(source);
    await symlink(join(app, 'node_modules'), join(source, 'node_modules'));
    await cp(join(app, 'vite.config.ts'), join(source, 'vite.config.ts'));
    const html =
      '<link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/main.js"></script>';
    await writeFile(join(source, 'index.html'), html);
    await writeFile(
      join(source, 'main.js'),
      `import { createElement as h, useState } from 'react';
       import { createRoot } from 'react-dom/client';
       import { createClient } from '@backlot/client';
       import { useChannel, usePresence } from '@backlot/client/react';
       const client = createClient('${platform.url}/api/runtime/${project.id}');
       const Room = () => {
         const [heard, setHeard] = useState('');
         const [name, setName] = useState(location.hash.slice(1));
         const { send } = useChannel(client, 'room', ({ data }) => setHeard(data));
         const { members } = usePresence(client, 'room', { name });
         const names = members?.map(({ data }) => data.name).sort().join(' and ');
         return h('div', {},
           h('button', { onClick: () => send(name + ' says hello') }, 'Hello'),
           h('button', { onClick: () => setName(name + '!') }, 'Louder'),
           h('p', {}, 'Heard: ' + heard), h('p', {}, 'Here: ' + names));
       };
       createRoot(document.getElementById('root')).render(h(Room));`,
    );
    await run(
      join(app, 'node_modules/.bin/vite'),
      ['build', '--outDir', join(folder, 'dist/hooks')],
      { cwd: source },
    );
    const openRoom = async (name: string) => {
      const page = await (await browser.newContext()).newPage();
      page.on('pageerror', (error) => problems.push(error.message));
      const { port } = site.address() as AddressInfo;
      await page.goto(`http://127.0.0.1:${port}/hooks/index.html#${name}`);
      return page;
    };
    const [ada, bob] = [await openRoom('Ada'), await openRoom('Bob')];
    for (const page of [ada, bob]) await page.getByText('Here: Ada and Bob').waitFor();
    await ada.getByRole('button', { name: 'Hello' }).click();
    for (const page of [ada, bob]) await page.getByText('Heard: Ada says hello').waitFor();
    await bob.getByRole('button', { name: 'Louder' }).click();
    await ada.getByText('Here: Ada and Bob!').waitFor();
    await bob.close();
    await ada.getByText('Here: Ada', { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  it('has the types that "backlot types" writes of its own records', async () => {
    const { body } = await platform.control('POST', `/projects/${project.id}/keys`, {
      token: project.owner.token,
      body: { name: 'types', scopes: ['read'] },
    });
    const copy = join(folder, 'copy');
    await cp(join(app, 'src'), join(copy, 'src'), { recursive: true });
    await cp(join(app, 'tsconfig.json'), join(copy, 'tsconfig.json'));
    await symlink(join(app, 'node_modules'), join(copy, 'node_modules'));
    const written = join(copy, 'src/project.ts');
    await run(process.execPath, [cli, 'types', project.id, '--out', written], {
      env: { ...process.env, BACKLOT_KEY: body.key, BACKLOT_HOST: platform.url },
    });
    const interfaces = (text: string) => text.slice(text.indexOf('export interface Todos'));
    const committed = await readFile(join(app, 'src/project.ts'), 'utf8');
    expect(interfaces(await readFile(written, 'utf8'))).toBe(interfaces(committed));
    const checked = run(join(app, 'node_modules/.bin/tsc'), ['-p', copy]);
    await expect(checked).resolves.toMatchObject({ stdout: '' });
  });
});
