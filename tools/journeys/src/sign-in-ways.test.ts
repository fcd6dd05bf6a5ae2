import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import {
  createTestOpenIdProvider,
  type TestOpenIdProvider,
} from '@backlot/testing/open-id-provider';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { addAuthenticator, totp } from './authenticator.ts';
import { expectAccessible } from './console/accessible.ts';
import { shoot } from './console/console-under-test.ts';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const password = 'a good long password';

describe('ways to sign in, in the browser of a visitor', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let provider: TestOpenIdProvider;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const problems: string[] = [];
  const site = createServer((_req, res) => {
    const base = `${platform.url}/api/runtime/${project.id}`;
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    // `/` has the form; `/own` leads to the page of the platform.
    res.end(`<!doctype html><html lang="en"><head><title>Salon</title></head><body><main><h1>Salon</h1>
<p id="who"></p><button id="enter">Enter</button><div id="form"></div></main>
<script type="module">
import { createClient } from '${platform.url}/sdk.js';
import '${platform.url}/sdk-sign-in.js';
const client = (window.client = createClient('${base}'));
const show = (user) => { document.getElementById('who').textContent = user ? 'Hello ' + (user.email ?? 'guest') : 'Nobody'; };
if (location.pathname === '/own') {
  document.getElementById('enter').onclick = async () => client.auth.openSignIn({ merge: (await client.auth.me())?.isGuest });
  await client.auth.finishSignIn();
} else {
  document.getElementById('enter').remove();
  const form = document.createElement('backlot-sign-in');
  form.client = client;
  document.getElementById('form').append(form);
}
client.auth.onChange(show);
</script></body></html>`);
  });
  const origin = () => `http://localhost:${(site.address() as AddressInfo).port}`;

  beforeAll(async () => {
    browser = await launchChromium();
    provider = await createTestOpenIdProvider();
    platform = await platformUnderTest('in-process', { BACKLOT_WEBHOOKS_TO_LOOPBACK: 'on' });
    project = await platform.newProject();
    await new Promise<void>((resolve) => site.listen(0, 'localhost', resolve));
    const { token } = project.owner;
    const { issuer, clientId, clientSecret } = provider;
    await platform.control('PATCH', `/projects/${project.id}`, {
      token,
      body: { settings: { allowedOrigins: [origin()] } },
    });
    const set = await platform.control('PUT', `/projects/${project.id}/auth-providers/company`, {
      token,
      body: { issuer, clientId, clientSecret, label: 'Company' },
    });
    await platform.control('PUT', `/projects/${project.id}/collections/bookings`, {
      token,
      body: { access: 'private' },
    });
    provider.redirectUris.add(set.body.callbackUrl);
    provider.people.set('ada', { email: 'ada@company.example', email_verified: true });
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    site.close();
    await platform?.stop();
    await provider?.stop();
  });

  const open = async (path = '/'): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(origin() + path);
    return page;
  };
  const greeted = (page: Page, who: string) => page.getByText(`Hello ${who}`).waitFor();
  const enterPassword = async (page: Page, email: string) => {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  it('leads to a provider, and back into an address that holds no code', async () => {
    const page = await open();
    provider.signsInAs = 'ada';
    const company = page.getByRole('button', { name: 'Continue with Company' });
    await company.waitFor();
    await expectAccessible(page);
    await shoot(page, 'sign-in-ways');
    await company.click();
    await greeted(page, 'ada@company.example');
    expect(page.url()).toBe(`${origin()}/`);
    await page.context().close();

    const other = await open();
    provider.signsInAs = null;
    await other.getByRole('button', { name: 'Continue with Company' }).click();
    await other.getByRole('alert').filter({ hasText: 'not consented' }).waitFor();
    expect(other.url()).toBe(`${origin()}/`);
    await other.context().close();
  });

  it('signs in on the page of the platform, which keeps nothing of it', async () => {
    const { email } = await platform.signUp(project.id);
    const page = await open('/own');
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/account/sign-in');
    await expectAccessible(page);
    await shoot(page, 'account-sign-in');
    await enterPassword(page, email);
    await greeted(page, email);
    expect(page.url()).toBe(`${origin()}/own`);
    await page.goto(`${platform.url}/account`);
    expect(await page.evaluate('localStorage.length')).toBe(0);

    await page.goto(`${origin()}/own`);
    provider.signsInAs = 'ada';
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('button', { name: 'Continue with Company' }).click();
    await greeted(page, 'ada@company.example');
    expect(page.url()).toBe(`${origin()}/own`);
    await page.context().close();
  });

  it('offers nobody who is a guest, and came to keep what is theirs, to be a guest', async () => {
    const { email } = await platform.signUp(project.id);
    const page = await open('/own');
    const asGuest = page.getByRole('button', { name: 'Continue as guest' });
    await page.getByRole('button', { name: 'Enter' }).click();
    await asGuest.click();
    await greeted(page, 'guest');
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Forgot password?' }).waitFor();
    expect(await asGuest.count()).toBe(0);
    await shoot(page, 'account-sign-in-guest');
    await enterPassword(page, email);
    await greeted(page, email);
    await page.context().close();
  });

  it('leads from the page of the platform nowhere but to the app', async () => {
    const page = await open();
    const challenge = 'a'.repeat(43);
    const at = `${platform.url}/account/sign-in?project=${project.id}&challenge=${challenge}`;
    await page.goto(`${at}&returnTo=${encodeURIComponent('https://evil.example/')}`);
    await page.getByRole('alert').filter({ hasText: 'allowedOrigins' }).waitFor();
    expect(await page.locator('backlot-sign-in').count()).toBe(0);
    await expectAccessible(page);
    await page.goto(`${platform.url}/account/sign-in?project=${project.id}`);
    await page.getByRole('alert').filter({ hasText: 'Nothing leads back' }).waitFor();
    await page.context().close();
  });

  it('asks for the second factor after the password, and not again on a device that is remembered', async () => {
    const { email, token } = await platform.signUp(project.id);
    const { secret } = (await project.api('POST', '/auth/factors/totp', { token })).body;
    const confirmed = await project.api('POST', '/auth/factors/totp/confirm', {
      token,
      body: { code: totp(secret) },
    });
    const [recoveryCode] = confirmed.body.recoveryCodes;
    const page = await open();
    await enterPassword(page, email);
    await page.getByRole('heading', { name: 'One more step' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'sign-in-factor');
    await page.getByLabel('Code of the app').fill('000000');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('alert').filter({ hasText: /code/i }).waitFor();
    await page.getByLabel('Code of the app').fill(recoveryCode);
    await page.getByLabel('Do not ask again').check();
    await page.getByRole('button', { name: 'Go on' }).click();
    await greeted(page, email);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await enterPassword(page, email);
    await greeted(page, email);
    await page.context().close();
  });

  it('signs in by a passkey', async () => {
    const page = await open();
    await addAuthenticator(page);
    const { email } = await platform.signUp(project.id);
    await enterPassword(page, email);
    await greeted(page, email);
    await page.evaluate(`client.auth.addPasskey('Laptop')`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Nobody').waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await greeted(page, email);
    await page.context().close();
  });

  it('signs in by a code from the mail', async () => {
    const { email } = await platform.signUp(project.id);
    const page = await open();
    await page.getByRole('button', { name: 'Mail me a code' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Mail me a code' }).click();
    const code = await until(
      async () => {
        const { body } = await platform.control('GET', `/projects/${project.id}/emails`, {
          token: platform.operatorToken,
        });
        const mails = body.items as { to: string[]; html: string }[];
        const found = mails.filter(({ to }) => to.includes(email)).map(({ html }) => html);
        return found.map((html) => /is (\d{6})\./.exec(html)?.[1]).find(Boolean);
      },
      { what: 'a mail with a code' },
    );
    await expectAccessible(page);
    await shoot(page, 'sign-in-code');
    await page.getByLabel('Code', { exact: true }).fill(code);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await greeted(page, email);
    await page.context().close();
  });

  /** Somebody on a page of their own, who has booked as a guest and comes back. */
  const guestWithBooking = async (path = '/'): Promise<Page> => {
    const page = await open(path);
    await page.evaluate(`window.client.auth.guest()`);
    await greeted(page, 'guest');
    await page.evaluate(`window.client.db('bookings').create({ at: 'noon' })`);
    await page.reload();
    await greeted(page, 'guest');
    return page;
  };
  const hasBookings = (page: Page, count: number) =>
    page.waitForFunction(
      `window.client.db('bookings').list().then(({ items }) => items.length === ${count})`,
      undefined,
      { polling: 200 },
    );
  const bringAlong = (page: Page) => page.getByLabel('Bring along what I have made as a guest');

  it('a guest who signs up keeps what they have', async () => {
    const page = await guestWithBooking();
    await page.getByRole('heading', { name: 'Sign up', exact: true }).waitFor();
    await page.getByLabel('E-mail').fill('guest-to-user@example.org');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign up', exact: true }).click();
    await greeted(page, 'guest-to-user@example.org');
    await hasBookings(page, 1);
    await page.context().close();
  });

  it('a guest who has an account is told so, signs in to it and brings along what they have made', async () => {
    const { email } = await platform.signUp(project.id);
    const page = await guestWithBooking();
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign up', exact: true }).click();
    const taken = 'An account with this e-mail address exists already.';
    await page.getByRole('alert').filter({ hasText: taken }).waitFor();
    expect(await page.getByRole('alert').textContent()).toBe(taken);
    await page.getByRole('button', { name: 'Have an account? Sign in' }).click();
    expect(await bringAlong(page).isChecked()).toBe(true);
    await expectAccessible(page);
    await shoot(page, 'sign-in-ways-guest');
    await enterPassword(page, email);
    await greeted(page, email);
    await hasBookings(page, 1);
    await page.context().close();

    const other = await guestWithBooking();
    await other.getByRole('button', { name: 'Have an account? Sign in' }).click();
    await bringAlong(other).uncheck();
    await enterPassword(other, email);
    await greeted(other, email);
    await hasBookings(other, 1);
    await other.context().close();
  });

  it('a guest goes to a provider and brings along what they have made, to the account that is there', async () => {
    provider.signsInAs = 'ada';
    for (const count of [1, 2]) {
      const page = await guestWithBooking();
      await page.getByRole('button', { name: 'Have an account? Sign in' }).click();
      await page.getByRole('button', { name: 'Continue with Company' }).click();
      await greeted(page, 'ada@company.example');
      await hasBookings(page, count);
      await page.context().close();
    }
  });

  it('a guest signs in on the page of the platform, and the app gets what they have made', async () => {
    const { email } = await platform.signUp(project.id);
    const page = await guestWithBooking('/own');
    await page.getByRole('button', { name: 'Enter' }).click();
    await enterPassword(page, email);
    await greeted(page, email);
    await hasBookings(page, 1);
    await page.context().close();
  });

  it('breaks no script on the way', () => {
    expect(problems).toEqual([]);
  });
});
