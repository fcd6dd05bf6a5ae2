import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import {
  type PlatformUnderTest,
  platformUnderTest,
  settled,
  usualModes,
} from './platform-under-test.ts';

/** Of the page, not of Node. */
declare const navigator: {
  credentials: Record<'create' | 'get', (options: object) => Promise<{ toJSON(): unknown }>>;
};
declare const PublicKeyCredential: Record<
  'parseCreationOptionsFromJSON' | 'parseRequestOptionsFromJSON',
  (options: unknown) => object
>;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server has answered.
  body: any;
}

/** A page with a device that keeps passkeys and always knows its user. */
const openPage = async (browser: Browser, url: string) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  const device = await context.newCDPSession(page);
  await device.send('WebAuthn.enable');
  const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const setUserVerified = (isUserVerified: boolean) =>
    device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  return { page, setUserVerified };
};

const makePasskey = (page: Page, base: string, token: string, name: string): Promise<Answer> =>
  page.evaluate(
    async (given) => {
      const call = async (path: string, body?: object) => {
        const response = await fetch(given.base + path, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${given.token}`,
            ...(body && { 'Content-Type': 'application/json' }),
          },
          ...(body && { body: JSON.stringify(body) }),
        });
        return { status: response.status, body: await response.json() };
      };
      const options = await call('/auth/passkeys/options');
      if (options.status !== 200) return options;
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options.body);
      const made = await navigator.credentials.create({ publicKey });
      return call('/auth/passkeys', { credential: made.toJSON(), name: given.name });
    },
    { base, token, name },
  );

const signInByPasskey = (page: Page, base: string): Promise<Answer> =>
  page.evaluate(async (at) => {
    const call = async (path: string, body?: object) => {
      const response = await fetch(at + path, {
        method: 'POST',
        ...(body && {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      });
      return { status: response.status, body: await response.json() };
    };
    const options = await call('/auth/passkeys/sign-in/options');
    if (options.status !== 200) return options;
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.body);
    const shown = await navigator.credentials.get({ publicKey });
    return call('/auth/passkeys/sign-in', { credential: shown.toJSON() });
  }, base);

describe.each(usualModes)('passkeys of a browser, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  let app: Server;
  let appUrl: string;
  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest(mode);
    app = createServer((_req, res) => {
      res.setHeader('Content-Type', 'text/html');
      res.end('<!doctype html><title>An app</title><h1>An app</h1>');
    });
    await new Promise<void>((resolve) => app.listen(0, 'localhost', resolve));
    appUrl = `http://localhost:${(app.address() as AddressInfo).port}`;
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    app?.close();
  });
  const baseOf = (projectId: string) => `${platform.url}/api/runtime/${projectId}`;

  it('sign an owner in, at the platform’s own page', async () => {
    const owner = await platform.signUp('platform');
    const { page } = await openPage(browser, `${platform.url}/docs`);
    const base = baseOf('platform');
    expect(await makePasskey(page, base, owner.token, 'Laptop')).toMatchObject({
      status: 201,
      body: { name: 'Laptop', host: 'localhost' },
    });
    const { status, body } = await signInByPasskey(page, base);
    expect([status, body.user.id]).toEqual([200, owner.id]);
    expect((await platform.control('GET', '/projects', { token: body.token })).status).toBe(200);
  });

  it('sign users in at the app, in its project alone, once it may', async () => {
    const { id, owner, api } = await platform.newProject();
    const user = await platform.signUp(id);
    const { page } = await openPage(browser, appUrl);
    const refused = await makePasskey(page, baseOf(id), user.token, 'Phone');
    expect(refused).toMatchObject({ status: 409, body: { code: 'origin_unproven' } });
    const settings = { allowedOrigins: [appUrl] };
    await platform.control('PATCH', `/projects/${id}`, { token: owner.token, body: { settings } });
    expect((await makePasskey(page, baseOf(id), user.token, 'Phone')).status).toBe(201);
    const { body } = await signInByPasskey(page, baseOf(id));
    expect(body.user.id).toBe(user.id);
    expect((await api('GET', '/auth/passkeys', { token: body.token })).body.items).toMatchObject([
      { name: 'Phone', lastUsedAt: expect.any(String) },
    ]);

    const other = await platform.newProject();
    await platform.control('PATCH', `/projects/${other.id}`, {
      token: other.owner.token,
      body: { settings },
    });
    expect((await signInByPasskey(page, baseOf(other.id))).status).toBe(401);
  });

  it('open what a role of two factors opens, where a password does not', async () => {
    const { id, owner, api } = await platform.newProject();
    const user = await platform.signUp(id);
    const asOwner = (method: string, path: string, body: object) =>
      platform.control(method, `/projects/${id}${path}`, { token: owner.token, body });
    await asOwner('PATCH', `/users/${user.id}`, { role: 'staff' });
    await asOwner('PATCH', '', { settings: { mustUse2fa: ['staff'] } });
    const list = () => api('GET', '/groups', { token: user.token });
    expect((await settled(list, 403)).body.code).toBe('factor_first');
    const { page, setUserVerified } = await openPage(browser, `${platform.url}/docs`);
    expect((await makePasskey(page, baseOf(id), user.token, 'Key')).status).toBe(201);
    expect(await list()).toMatchObject({ status: 200 });

    const password = 'a good long password';
    const byPassword = await api('POST', '/auth/signin', { body: { email: user.email, password } });
    expect(byPassword.body).toEqual({ factorToken: expect.any(String), factors: ['passkey'] });
    const { body } = await signInByPasskey(page, baseOf(id));
    expect((await api('GET', '/groups', { token: body.token })).status).toBe(200);
    await setUserVerified(false);
    await expect(signInByPasskey(page, baseOf(id))).rejects.toThrow('NotAllowedError');
  });
});
