import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

describe('the console', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  it('signs an owner up, who makes a first project and lands in it', async () => {
    const page = await bed.open('/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await shoot(page, 'sign-in');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByLabel('E-mail address').fill('first@example.org');
    await page.getByLabel('Password').fill('a good long password');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Create your first project' }).waitFor();
    await shoot(page, 'projects-empty');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create project' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Todo <img onerror=alert(1)> list');
    await shoot(page, 'create-project');
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('navigation', { name: 'Project' }).waitFor();
    await page.getByText('Todo <img onerror=alert(1)> list').waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/console\/projects\/[a-z0-9]{12}\/data$/);
    await shoot(page, 'project');
    await expectAccessible(page);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('renames, pauses, resumes, deletes and restores a project, and undoes', async () => {
    const { owner, id } = await bed.platform.newProject();
    const page = await bed.open('/', owner);
    const row = page.getByRole('row').filter({ hasText: id });
    const choose = async (choice: string) => {
      await row.getByRole('button', { name: /^More of/ }).click();
      await page.getByRole('menuitem', { name: choice }).click();
    };
    await choose('Rename…');
    await page.getByRole('textbox', { name: 'Name' }).fill('Bakery');
    await page.getByRole('button', { name: 'Rename' }).click();
    await row.getByRole('link', { name: 'Bakery' }).waitFor();

    await choose('Pause…');
    await shoot(page, 'confirm');
    await page.getByRole('button', { name: 'Pause project' }).click();
    await row.getByText('paused').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.getByText('paused').waitFor({ state: 'detached' });

    await choose('Delete…');
    const remove = page.getByRole('button', { name: 'Delete project' });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel('Type Bakery to go on').fill('Bakery');
    await remove.click();
    await row.getByText('deleted').waitFor();
    await shoot(page, 'project-deleted');
    await choose('Restore');
    await row.getByRole('link', { name: 'Bakery' }).waitFor();
    await expectAccessible(page);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('finds projects and screens by the palette, with the keyboard alone', async () => {
    const { page, project } = await bed.openProject('/data');
    await page.getByRole('heading', { name: 'Data', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Webhooks' }).waitFor();
    await shoot(page, 'palette');
    await expectAccessible(page);
    await page.keyboard.type('webh');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor();
    expect(page.url()).toContain(`/projects/${project.id}/webhooks`);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('leads a session that ended to the sign-in, over the page or before it, and then back to the same place', async () => {
    const { page, project } = await bed.openProject('/usage');
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await bed.platform.runtime('platform')('POST', '/auth/signout', {
      token: project.owner.token,
      body: { all: true },
    });
    await page.getByRole('link', { name: 'Your projects' }).click();
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await shoot(page, 'session-ended');
    await page.getByLabel('Password').fill('a good long password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Shop' }).waitFor();

    await page.getByRole('button', { name: project.owner.email }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/rules`);
    await page.getByLabel('E-mail address').fill(project.owner.email);
    await page.getByLabel('Password').fill('a good long password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Rules', exact: true }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('says of a printed link that signs nobody in why, and where the next one is', async () => {
    const page = await bed.open('/?link=over');
    await page
      .getByRole('status')
      .filter({ hasText: /signed somebody in already.*next one is printed where Backlot runs/ })
      .waitFor();
    await shoot(page, 'sign-in-link-over');
    await expectAccessible(page);
    await page.context().close();
    const changed = await bed.open('/?link=password');
    await changed.getByText('the password that was chosen since').waitFor();
    await changed.context().close();
    expect(bed.problems).toEqual([]);
  });

  it('shows another owner nothing of a project, in the words of the API', async () => {
    const { id } = await bed.platform.newProject();
    const stranger = await bed.platform.signUp('platform');
    const page = await bed.open(`/projects/${id}/data`, stranger);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('There is no such project.');
    await shoot(page, 'project-of-another');
    await page.context().close();
  });
});
