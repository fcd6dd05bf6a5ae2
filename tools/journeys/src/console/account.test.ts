import { createDatabase } from '@backlot/database';
import {
  createTestOpenIdProvider,
  type TestOpenIdProvider,
} from '@backlot/testing/open-id-provider';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { addAuthenticator, totp } from '../authenticator.ts';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

describe('the console: accounts and how they sign in', () => {
  let bed: ConsoleUnderTest;
  let provider: TestOpenIdProvider;
  beforeAll(async () => {
    provider = await createTestOpenIdProvider();
    bed = await consoleUnderTest({ BACKLOT_WEBHOOKS_TO_LOOPBACK: 'on' });
  }, 300_000);
  afterAll(async () => {
    await bed?.stop();
    await provider?.stop();
  });

  const signOut = async (page: Page, email: string) => {
    await page.getByRole('button', { name: email }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  };

  it('an owner adds a passkey and an authenticator app, and signs in by each', async () => {
    const owner = await bed.platform.signUp('platform');
    const page = await bed.open('/account', owner);
    await addAuthenticator(page);
    await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor();
    await page.getByText('this one').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('The passkey is added').waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Laptop <b>');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('cell', { name: 'Laptop <b>', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Set up…' }).click();
    const secret = await page.locator('.totp-secret').textContent();
    await page.getByRole('img', { name: 'The secret as a QR code' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'account-totp');
    await page.getByLabel('Code of the app').fill('000000');
    await page.getByRole('button', { name: 'Ask for codes from now on' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Code of the app').fill(totp(String(secret)));
    await page.getByRole('button', { name: 'Ask for codes from now on' }).click();
    await page.getByText('They are shown only now.').waitFor();
    let codes = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
    expect(codes.trim().split('\n')).toHaveLength(10);
    await shoot(page, 'account-recovery-codes');
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('10 recovery codes left').waitFor();
    await expectAccessible(page);
    await shoot(page, 'account');

    await page.getByRole('button', { name: 'New recovery codes…' }).click();
    await page.getByLabel('Code of the app').fill(codes.split('\n')[1] ?? '');
    await shoot(page, 'account-new-codes');
    await page.getByRole('button', { name: 'Show new codes' }).click();
    await page.getByText('They are shown only now.').waitFor();
    codes = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('10 recovery codes left').waitFor();

    await signOut(page, owner.email);
    await page.getByLabel('E-mail address').fill(owner.email);
    await page.getByLabel('Password').fill('a good long password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('Code of the app').fill(codes.split('\n')[0] ?? '');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor();

    await signOut(page, owner.email);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('an owner who signed in long ago shows the password before another way in is added', async () => {
    const owner = await bed.platform.signUp('platform');
    const database = createDatabase({ url: bed.platform.databaseUrl, schema: 'auth' });
    await database.acrossProjects(() =>
      database.query(
        "UPDATE sessions SET created_at = now() - interval '1 hour' WHERE user_id = $1",
        [owner.id],
      ),
    );
    await database.close();
    const page = await bed.open('/account', owner);
    await addAuthenticator(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog', { name: 'Is it still you?' });
    await dialog.getByLabel('Your password').fill('not the password');
    await expectAccessible(page);
    await shoot(page, 'account-proof');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Your password').fill('a good long password');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('The passkey is added').waitFor();
    await page.getByRole('button', { name: 'Set up…' }).click();
    await page.getByRole('img', { name: 'The secret as a QR code' }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('an owner of whom two factors are asked is led to set one up, and then goes on', async () => {
    const project = await bed.platform.newProject();
    const { owner } = project;
    const operator = { token: bed.platform.operatorToken };
    const platform = '/projects/platform';
    const asPartner = { ...operator, body: { role: 'partner' } };
    await bed.platform.control('PATCH', `${platform}/users/${owner.id}`, asPartner);
    const settings = { mustUse2fa: ['partner'] };
    const set = { ...operator, body: { settings } };
    expect((await bed.platform.control('PATCH', platform, set)).status).toBe(200);
    const page = await bed.open(`/projects/${project.id}/data`, owner);
    await addAuthenticator(page);
    await page.getByText('Set up a second factor to go on').waitFor();
    await expectAccessible(page);
    await shoot(page, 'account-factor-needed');
    await page.getByRole('link', { name: 'Projects', exact: true }).click();
    await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/data`);
    await page.getByRole('link', { name: 'Files', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/projects/${project.id}/data`);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('an owner lets users sign in with a provider, and no more', async () => {
    const { page, project } = await bed.openProject('/settings/providers');
    await page.getByRole('cell', { name: 'Google', exact: true }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'providers');
    const google = page.getByRole('row').filter({ hasText: 'Google' });
    await google.getByRole('button', { name: 'Set up…' }).click();
    await page.getByText('/api/runtime/platform/auth/oauth/callback').waitFor();
    await expectAccessible(page);
    await shoot(page, 'provider-google');
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Add an OpenID provider' }).click();
    await page.getByLabel('Name in addresses').fill('company');
    await page.getByLabel('Issuer').fill(provider.issuer);
    await page.getByLabel('Words on the button').fill('Company');
    await page.getByLabel('Client ID').fill(provider.clientId);
    await page.getByLabel('Client secret').fill(provider.clientSecret);
    await page.getByRole('button', { name: 'Let users sign in with it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Company' });
    await row.getByText('on', { exact: true }).waitFor();
    const shown = await project.api('GET', '/auth/providers');
    expect(shown.body.items).toEqual([{ name: 'company', label: 'Company' }]);

    await row.getByRole('button', { name: 'More of Company' }).click();
    await page.getByRole('menuitem', { name: 'Forget…' }).click();
    await page.getByRole('button', { name: 'Forget client' }).click();
    await row.waitFor({ state: 'detached' });
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('an owner links an account elsewhere, signs in with it, and takes it away again', async () => {
    const { issuer, clientId, clientSecret } = provider;
    const set = await bed.platform.control('PUT', '/projects/platform/auth-providers/company', {
      token: bed.platform.operatorToken,
      body: { issuer, clientId, clientSecret, label: 'Company' },
    });
    expect([set.status, set.body.error]).toEqual([200, undefined]);
    provider.redirectUris.add(set.body.callbackUrl);
    provider.people.set('olga', { email: 'olga@company.example', email_verified: true });
    provider.signsInAs = 'olga';
    const owner = await bed.platform.signUp('platform');
    const page = await bed.open('/account', owner);
    await page.getByRole('button', { name: 'Link Company' }).click();
    await page.getByText('It is linked').waitFor();
    expect(page.url()).toBe(`${bed.platform.url}/console/account`);
    await page.getByRole('cell', { name: 'olga@company.example' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'account-linked');

    await signOut(page, owner.email);
    await page.getByRole('button', { name: 'Continue with Company' }).click();
    await page.getByRole('button', { name: owner.email }).waitFor();
    await page.goto(`${bed.platform.url}/console/account`);
    await page.getByRole('button', { name: 'Unlink', exact: true }).click();
    await page.getByRole('button', { name: 'Unlink Company' }).click();
    await page.getByText('None is linked.').waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('an owner sees what happened to a user’s sign-in, and helps who has lost the second factor', async () => {
    const project = await bed.platform.newProject();
    const user = await bed.platform.signUp(project.id);
    const { token } = user;
    const { secret } = (await project.api('POST', '/auth/factors/totp', { token })).body;
    const body = { code: totp(secret) };
    await project.api('POST', '/auth/factors/totp/confirm', { token, body });
    const page = await bed.open(`/projects/${project.id}/users/${user.id}`, project.owner);
    await page.getByText('Authenticator app added').waitFor();
    await page.getByText('10 recovery codes left').waitFor();
    await expectAccessible(page);
    await shoot(page, 'user-sign-ins');
    await page.getByRole('button', { name: 'Delete the authenticator app' }).click();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.getByText('No authenticator app.').waitFor();
    await page.getByText('They are signed in nowhere.').waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
