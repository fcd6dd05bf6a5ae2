import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Account } from '../platform-under-test.ts';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

/** Areas, and what a viewer may not do there; without it, a viewer may not read it either. */
const viewersSee = (
  [
    ['Data', 'Create collection'],
    ['Users', 'Invite user'],
    ['Groups', 'Create group'],
    ['Files', 'Choose files to upload'],
    ['Usage', 'Save caps'],
    ['Webhooks'],
  ] as const
).map(([name, action]) => [{ name, exact: true }, action] as const);
const password = 'a good long password';

describe('members of a project in the console', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest({ BACKLOT_OWNER_VERIFICATION: 'on' });
  }, 300_000);
  afterAll(() => bed?.stop());

  /** The last token that was mailed to an address of an owner, as the link before it begins. */
  const mailed = (to: string, pattern: RegExp) =>
    until(
      async () => {
        const { body } = await bed.platform.control('GET', '/projects/platform/emails', {
          token: bed.platform.operatorToken,
        });
        const mails = body.items as { to: string[]; html: string }[];
        const found = mails.find((mail) => mail.to.includes(to) && pattern.test(mail.html));
        return found?.html.match(pattern)?.[1];
      },
      { what: `a link for ${to}` },
    );

  const confirmAddress = async (email: string) => {
    const token = await mailed(email, /verify=([\w-]+)/);
    const { status } = await bed.platform.runtime('platform')('POST', '/auth/verify', {
      body: { token, password },
    });
    expect(status).toBe(200);
  };

  const newOwner = async (): Promise<Account> => {
    const owner = await bed.platform.signUp('platform');
    await confirmAddress(owner.email);
    return owner;
  };

  const invitationOf = async (email: string) =>
    `/invitation#${await mailed(email, /console\/invitation#([\w-]+)/)}`;

  const invite = async (page: Page, email: string, role: string) => {
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('radio', { name: new RegExp(`^${role}`) }).check();
    await page.getByRole('button', { name: 'Send invitation' }).click();
    await page.getByRole('cell', { name: email, exact: true }).waitFor();
  };

  /** What a viewer may not do is disabled, and nothing is asked for that would be refused. */
  const expectViewerSeesNoMore = async (page: Page, projectId: string) => {
    await until(
      async () => {
        await page.goto(`${bed.platform.url}/console/projects/${projectId}/data`);
        await page.getByText(/^You are an? (viewer|editor)\./).waitFor();
        return page.getByText('You are a viewer.').isVisible();
      },
      { what: 'the new role' },
    );
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    const why = /^You are a viewer of this project; this takes an? (editor|admin)\.$/;
    for (const [area, action] of viewersSee) {
      await page.getByRole('navigation', { name: 'Project' }).getByRole('link', area).click();
      await page.getByRole('heading', { level: 1, ...area }).waitFor();
      if (!action) {
        await page.getByText(why).waitFor();
        continue;
      }
      const button = page.getByRole('button', { name: action }).first();
      await until(() => button.isDisabled(), { what: `${action} is disabled` });
      expect(await button.locator('xpath=ancestor::fieldset[1]').getAttribute('title')).toMatch(
        why,
      );
    }
    await shoot(page, 'webhooks-as-viewer');
    await page.goto(`${bed.platform.url}/console/projects/${projectId}/users`);
    await page.getByText('You are a viewer.').waitFor();
    await shoot(page, 'users-as-viewer');
    await expectAccessible(page);
    expect(refused).toEqual([]);
  };

  it('invite somebody by mail, who accepts as another owner, sees the project, and is gone once removed', async () => {
    const { page, project } = await bed.openProject('/settings/members');
    await confirmAddress(project.owner.email);
    await page.getByText('Nobody is invited right now.').waitFor();
    const ada = await newOwner();
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await shoot(page, 'member-invite');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await invite(page, ada.email, 'editor');
    await page.getByRole('cell', { name: 'in 7 days' }).waitFor();
    await shoot(page, 'members-invited');
    await expectAccessible(page);

    const guest = await bed.open(await invitationOf(ada.email));
    await guest.getByRole('heading', { name: 'You are invited to a project' }).waitFor();
    expect(guest.url()).toBe(`${bed.platform.url}/console/invitation`);
    await shoot(guest, 'invitation-sign-in');
    await expectAccessible(guest);
    await guest.getByLabel('E-mail address').fill(ada.email);
    await guest.getByLabel('Password').fill(password);
    await guest.getByRole('button', { name: 'Sign in', exact: true }).click();
    await guest.getByRole('heading', { name: 'Work on Shop' }).waitFor();
    await guest.getByText(`${project.owner.email} invites you`).waitFor();
    await guest.getByText('an editor', { exact: true }).waitFor();
    await shoot(guest, 'invitation');
    await expectAccessible(guest);
    await guest.getByRole('button', { name: 'Accept' }).click();
    await guest.waitForURL(`**/projects/${project.id}/data`);
    await guest.goto(`${bed.platform.url}/console/projects/${project.id}/settings/members`);
    await guest.getByText('You are an editor of this project; this takes an admin.').waitFor();
    expect(await guest.getByRole('button', { name: 'Invite somebody' }).count()).toBe(0);
    await shoot(guest, 'members-as-editor');
    await expectAccessible(guest);
    const { id: userId } = await bed.platform.signUp(project.id);
    await guest.goto(`${bed.platform.url}/console/projects/${project.id}/users/${userId}`);
    await guest.getByRole('button', { name: 'Do…' }).click();
    await guest.getByRole('menuitem', { name: 'Erase… (takes an admin)' }).waitFor();
    await guest.getByRole('menuitem', { name: 'Block…' }).click();
    await guest.getByLabel('Reason').fill('Spam');
    await guest.getByRole('button', { name: 'Block user' }).click();
    await guest.getByText('They are told: Spam').waitFor();
    await shoot(guest, 'user-as-editor');
    await expectAccessible(guest);
    await guest.getByRole('button', { name: 'Unblock' }).click();
    await guest.getByText('They are told: Spam').waitFor({ state: 'detached' });
    await guest.goto(`${bed.platform.url}/console/projects/${project.id}/settings/members`);
    await guest.getByRole('link', { name: 'Keys', exact: true }).click();
    await guest.getByText('You are an editor of this project; this takes an admin.').waitFor();
    expect(await guest.getByRole('button', { name: 'Create key' }).count()).toBe(0);
    await guest.getByRole('link', { name: 'Settings', exact: true }).last().click();
    await guest.getByText('To change a setting: You are an editor').waitFor();
    expect(await guest.getByRole('combobox').first().isDisabled()).toBe(true);
    await guest.getByRole('button', { name: 'Rename, pause or delete' }).click();
    const erase = guest.getByRole('menuitem', { name: 'Delete… (takes the owner)' });
    expect(await erase.getAttribute('aria-disabled')).toBe('true');
    await shoot(guest, 'settings-as-editor');
    await guest.keyboard.press('Escape');
    await expectAccessible(guest);
    await guest.goto(`${bed.platform.url}/console/`);
    const row = guest.getByRole('row').filter({ hasText: project.id });
    await row.getByText('editor', { exact: true }).waitFor();
    await shoot(guest, 'projects-with-role');
    await expectAccessible(guest);

    await page.reload();
    await page.getByLabel(`Role of ${ada.email}`).selectOption('viewer');
    await page.getByText(`${ada.email} is a viewer now`, { exact: true }).first().waitFor();
    await shoot(page, 'members');
    await page.getByRole('button', { name: 'Undo' }).click();
    const role = page.getByLabel(`Role of ${ada.email}`);
    await until(async () => (await role.inputValue()) === 'editor');
    await role.selectOption('viewer');
    await until(async () => (await role.inputValue()) === 'viewer');
    await expectViewerSeesNoMore(guest, project.id);
    await page.getByRole('button', { name: `Remove ${ada.email}` }).click();
    await page.getByRole('button', { name: 'Remove member' }).click();
    await page.getByText(`${ada.email} is removed`, { exact: true }).first().waitFor();
    await guest.goto(`${bed.platform.url}/console/`);
    await guest.getByRole('heading', { name: 'Create your first project' }).waitFor();
    await until(async () => {
      const { status } = await bed.platform.control('GET', `/projects/${project.id}`, {
        token: ada.token,
      });
      return status === 404;
    });
    expect(bed.problems).toEqual([]);
    await guest.context().close();
    await page.context().close();
  });

  it('take a confirmed address, whose link is mailed again right where it is asked for', async () => {
    const { page, project } = await bed.openProject('/settings/members');
    const { email, token } = project.owner;
    const first = await mailed(email, /verify=([\w-]+)/);
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('E-mail address').fill('somebody@example.org');
    await page.getByRole('button', { name: 'Send invitation' }).click();
    const asked = page.getByRole('alert').filter({ hasText: 'Confirm your own e-mail address' });
    await asked.waitFor();
    await shoot(page, 'address-unconfirmed');
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Mail the link again' }).click();
    await asked.getByText(`A new link is on its way to ${email}`).waitFor();
    await shoot(page, 'address-link-again');
    await expectAccessible(page);
    const second = await until(async () => {
      const found = await mailed(email, /verify=([\w-]+)/);
      return found !== first && found;
    });
    const account = await bed.open('/account', project.owner);
    await account.getByText('Your e-mail address is not confirmed.').waitFor();
    await shoot(account, 'account-unconfirmed');
    await expectAccessible(account);
    const { status } = await bed.platform.runtime('platform')('POST', '/auth/verify', {
      token,
      body: { token: second },
    });
    expect(status).toBe(200);
    await account.getByRole('button', { name: 'Mail the link again' }).click();
    await account.getByText('is not confirmed').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send invitation' }).click();
    await page.getByRole('cell', { name: 'somebody@example.org', exact: true }).waitFor();
    expect(bed.problems).toEqual([]);
    await account.context().close();
    await page.context().close();
  });

  it('say of an invitation by name that it is for another address, or was taken back', async () => {
    const { page, project } = await bed.openProject('/settings/members');
    await confirmAddress(project.owner.email);
    const eve = await newOwner();
    await invite(page, 'somebody@example.org', 'viewer');
    const other = await bed.open(await invitationOf('somebody@example.org'), eve);
    await other.getByText('This invitation was sent to another address.').waitFor();
    expect(await other.getByRole('button', { name: 'Accept' }).count()).toBe(0);
    await shoot(other, 'invitation-other-address');
    await expectAccessible(other);
    await page.getByRole('button', { name: 'Revoke the invitation of somebody@' }).click();
    await page.getByRole('button', { name: 'Revoke invitation' }).click();
    await page.getByText('Nobody is invited right now.').waitFor();
    await other.reload();
    await other.getByRole('heading', { name: 'This invitation is good no more' }).waitFor();
    await other.getByText('was used or taken back, or has expired').waitFor();
    expect(bed.problems).toEqual([]);
    await other.context().close();
    await page.context().close();
  });
});
