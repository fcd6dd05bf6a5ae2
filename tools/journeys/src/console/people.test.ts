import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

const hostileName = 'Ada <img src=x onerror=alert(1)>';

describe('the console: users, groups and files', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  it('finds a user, gives them a role, blocks, unblocks, signs out, exports and erases them', async () => {
    const { page, project } = await bed.openProject('/users');
    await page.getByRole('heading', { name: 'No users yet' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'users-empty');
    await page.getByRole('button', { name: 'Invite user' }).first().click();
    await page.getByLabel('E-mail address').fill('ada@example.org');
    await page.getByLabel('Name').fill(hostileName);
    await shoot(page, 'users-invite');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite user' }).click();
    await page.getByRole('heading', { name: hostileName }).waitFor();
    await page.getByText('A link to choose a password was mailed').waitFor();

    for (let n = 0; n < 3; n++) await bed.platform.signUp(project.id);
    const userId = new URL(page.url()).pathname.split('/').at(-1);
    await bed.platform.runtime(project.id)('POST', '/db/notes', {
      token: project.owner.token,
      body: { data: { title: 'A note' } },
    });
    await page.getByLabel('Role in this project').fill('staff');
    await page.getByRole('button', { name: 'Set role' }).click();
    await page.getByText('The role is now staff').waitFor();

    const choose = async (choice: string) => {
      await page.getByRole('button', { name: 'Do…' }).click();
      await page.getByRole('menuitem', { name: choice }).click();
    };
    await choose('Block…');
    await page.getByLabel('Reason').fill('Spam');
    await page.getByLabel('How long').selectOption('For a week');
    await shoot(page, 'user-block');
    await page.getByRole('button', { name: 'Block user' }).click();
    await page.getByText('They are told: Spam').waitFor();
    await expectAccessible(page);
    await shoot(page, 'user');
    await page.getByRole('button', { name: 'Unblock' }).click();
    await page.getByText('They are told: Spam').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('They are signed in nowhere.').waitFor();

    await choose('Export everything…');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export everything' }).click();
    expect((await download).suggestedFilename()).toBe('ada@example.org.ndjson');

    await page.getByRole('link', { name: 'All users' }).click();
    await page.getByRole('searchbox', { name: 'Search users' }).fill('ada@');
    await page
      .getByRole('row', { name: /person/ })
      .first()
      .waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Search users' }).fill('');
    await page
      .getByRole('row', { name: /person/ })
      .first()
      .waitFor();
    await shoot(page, 'users');
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Roles' }).click();
    await page.getByLabel('Role to give powers').fill('staff');
    await page.getByRole('button', { name: 'Let a role list users' }).click();
    await page.getByRole('group', { name: 'staff' }).getByLabel('block users').click();
    await page
      .getByRole('group', { name: 'staff' })
      .getByRole('checkbox', { name: 'block users', checked: true })
      .waitFor();
    await expectAccessible(page);
    await shoot(page, 'users-roles');
    const roles = await bed.platform.control('GET', `/projects/${project.id}/roles`, {
      token: project.owner.token,
    });
    expect(roles.body.items[0].may.toSorted()).toEqual(['block-users', 'see-users']);
    await page.getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('link', { name: 'ada@example.org' }).click();
    await choose('Erase…');
    await page.getByText('are deleted').or(page.getByText('stay, under the id')).waitFor();
    await shoot(page, 'user-erase');
    await page.getByLabel('Type ada@example.org to go on').fill('ada@example.org');
    await page.getByRole('button', { name: 'Erase user' }).click();
    await page.getByText('ada@example.org is erased').waitFor();
    const gone = await bed.platform.control('GET', `/projects/${project.id}/users/${userId}`, {
      token: project.owner.token,
    });
    expect(gone.status).toBe(404);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('makes a group with an owner, invites, takes back, renames and deletes', async () => {
    const { page, project } = await bed.openProject('/groups');
    const member = await bed.platform.signUp(project.id);
    await page.getByRole('heading', { name: 'No groups yet' }).waitFor();
    await shoot(page, 'groups-empty');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create group' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Bakery <b>');
    await dialog.getByLabel('Address of its owner').fill('nobody@example.org');
    await dialog.getByRole('button', { name: 'Create group' }).click();
    await dialog.getByText('No user has the address nobody@example.org').waitFor();
    await dialog.getByLabel('Address of its owner').fill(member.email);
    await dialog.getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('heading', { name: 'Bakery <b>' }).waitFor();

    await page.getByLabel('E-mail address').fill('guest@example.org');
    await page.getByRole('button', { name: 'Invite' }).click();
    const invitation = page.getByRole('row').filter({ hasText: 'guest@example.org' });
    await invitation.waitFor();
    await page.getByLabel(`Role of ${member.id}`).waitFor();
    await shoot(page, 'group');
    await expectAccessible(page);
    await invitation.getByRole('button', { name: 'Take back' }).click();
    await page.getByText('No invitation is open.').waitFor();

    await page.getByRole('button', { name: 'Do…' }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Brewery');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Brewery' }).waitFor();
    await page.getByRole('link', { name: 'All groups' }).click();
    await page.getByRole('link', { name: 'Brewery' }).waitFor();
    await shoot(page, 'groups');
    await page.getByRole('link', { name: 'Brewery' }).click();
    await page.getByRole('button', { name: 'Do…' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete group' }).click();
    await page.getByRole('heading', { name: 'No groups yet' }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
