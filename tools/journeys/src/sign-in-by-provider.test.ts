import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDatabase } from '@backlot/database';
import { launchChromium } from '@backlot/testing/chromium';
import {
  createTestOpenIdProvider,
  type TestOpenIdProvider,
} from '@backlot/testing/open-id-provider';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

describe('sign-in by an OpenID provider, in an app of another origin', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let context: BrowserContext;
  let provider: TestOpenIdProvider;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const problems: string[] = [];

  const app = () => `<!doctype html><html lang="en"><head><title>App</title></head><body>
<h1>App</h1><button id="in" disabled>Sign in</button><button id="link">Link</button><p id="who" role="status"></p>
<script type="module">
  import { createClient } from '${platform.url}/sdk.js';
  const client = createClient('${platform.url}/api/runtime/${project.id}');
  const show = async (coming) => {
    try {
      const user = await coming;
      if (user) document.getElementById('who').textContent = user.email + ' ' + user.id;
    } catch (error) {
      document.getElementById('who').textContent = error.code;
    }
  };
  await show(client.auth.finishSignIn());
  const signIn = document.getElementById('in');
  signIn.onclick = () => show(client.auth.signInWith('local'));
  document.getElementById('link').onclick = () => show(client.auth.linkIdentity('local'));
  signIn.disabled = false;
  document.title = 'ready';
</script></body></html>`;
  const listen = async (answer: (path: string) => string) => {
    const server = createServer((req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      res.end(answer(req.url ?? ''));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  let appSite: Awaited<ReturnType<typeof listen>>;
  let frameSite: Awaited<ReturnType<typeof listen>>;

  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
    project = await platform.newProject();
    provider = await createTestOpenIdProvider();
    appSite = await listen(app);
    frameSite = await listen(
      () =>
        `<!doctype html><title>Preview</title><iframe src="${appSite.url}/" title="App"></iframe>`,
    );
    const { owner } = project;
    const control = (method: string, path: string, body: object) =>
      platform.control(method, `/projects/${project.id}${path}`, { token: owner.token, body });
    await control('PATCH', '', { settings: { allowedOrigins: [appSite.url] } });
    const { issuer, clientId, clientSecret } = provider;
    const set = await control('PUT', '/auth-providers/local', { issuer, clientId, clientSecret });
    expect([set.status, set.body.error]).toEqual([200, undefined]);
    provider.redirectUris.add(set.body.callbackUrl);
    provider.people.set('ada', { email: 'ada@example.org', email_verified: true, name: 'Ada' });
    provider.signsInAs = 'ada';
    context = await browser.newContext();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    appSite?.server.close();
    frameSite?.server.close();
    await provider?.stop();
    await platform?.stop();
  });

  const open = async (url: string): Promise<Page> => {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) problems.push(message.text());
    });
    await page.goto(url);
    return page;
  };

  it('leads the whole page there and back, and leaves no code in the address', async () => {
    const page = await open(`${appSite.url}/?tab=1#top`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'ada@example.org' }).waitFor();
    expect(page.url()).toBe(`${appSite.url}/?tab=1#top`);
    await page.reload();
    await page.waitForFunction(`document.title === 'ready'`);
    expect(await page.getByRole('status').textContent()).toBe('');
  });

  it('in a frame opens a window, which tells the frame alone and closes', async () => {
    const page = await open(frameSite.url);
    await page.evaluate(
      `void (window.heard = [], addEventListener('message', (told) => heard.push(told.data)))`,
    );
    const frame = page.frameLocator('iframe');
    const opened = page.waitForEvent('popup');
    await frame.getByRole('button', { name: 'Sign in', exact: true }).click();
    const popup = await opened;
    await frame.getByRole('status').filter({ hasText: 'ada@example.org' }).waitFor();
    if (!popup.isClosed()) await popup.waitForEvent('close');
    expect(await page.evaluate('heard')).toEqual([]);
  });

  it('links another account of theirs in a window of the frame, and none where a proof is due', async () => {
    provider.people.set('work', { email: 'ada@work.example', email_verified: true });
    const page = await open(frameSite.url);
    const frame = page.frameLocator('iframe');
    const press = async (name: string) => {
      // The provider asks anew who is there.
      await context.clearCookies();
      const opened = page.waitForEvent('popup');
      await frame.getByRole('button', { name, exact: true }).click();
      const popup = await opened;
      if (!popup.isClosed()) await popup.waitForEvent('close');
    };
    const status = frame.getByRole('status');
    const answers = (text: string) => status.filter({ hasText: text }).waitFor();
    await press('Sign in');
    await answers('ada@example.org');
    const who = (await status.textContent()) ?? '';
    const userId = who.split(' ')[1] ?? '';
    provider.signsInAs = 'work';
    await press('Link');
    await answers(who);
    await status.evaluate('(shown) => { shown.textContent = "" }');
    await press('Sign in');
    await answers(who);
    provider.signsInAs = null;
    await press('Link');
    await answers('sign_in_canceled');
    const database = createDatabase({ url: platform.databaseUrl, schema: 'auth' });
    await database.acrossProjects(() =>
      database.query(
        "UPDATE sessions SET created_at = now() - interval '1 hour' WHERE user_id = $1",
        [userId],
      ),
    );
    await database.close();
    await press('Link');
    await answers('reauthentication_needed');
    provider.signsInAs = 'ada';
  });

  it('tells the app that somebody has not consented', async () => {
    provider.signsInAs = null;
    const page = await (await browser.newContext()).newPage();
    await page.goto(appSite.url);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'sign_in_canceled' }).waitFor();
    provider.signsInAs = 'ada';
  });

  it('says on a page of its own why it leads nowhere else', async () => {
    const page = await context.newPage();
    const query = new URLSearchParams({
      returnTo: 'https://evil.example/',
      challenge: 'x'.repeat(43),
    });
    const answer = await page.goto(
      `${platform.url}/api/runtime/${project.id}/auth/oauth/local?${query}`,
    );
    expect(answer?.status()).toBe(400);
    await page.getByText('"allowedOrigins"').waitFor();
    expect(problems).toEqual([]);
  });
});
