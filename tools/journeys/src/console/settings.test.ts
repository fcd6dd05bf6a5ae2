import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

describe('the settings of a project in the console', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());
  const settingsFor = async (id: string, token: string) =>
    (await bed.platform.control('GET', `/projects/${id}`, { token })).body.settings;
  const toasted = (page: Page, text: string) =>
    page.getByText(text, { exact: true }).first().waitFor();

  it('set one, say what is wrong with another, undo, and go back to the default', async () => {
    const { page, project } = await bed.openProject('/settings');
    const { token } = project.owner;
    const row = (label: string) =>
      page.locator('form').filter({ has: page.getByLabel(label, { exact: false }) });
    await row('Verified addresses only').getByRole('combobox').selectOption('Yes');
    await shoot(page, 'settings');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await toasted(page, 'Verified addresses only: saved');
    expect(await settingsFor(project.id, token)).toEqual({ mustVerify: true });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Use the default' }).waitFor({ state: 'detached' });
    expect(await settingsFor(project.id, token)).toEqual({});

    // By the keyboard: the button is gone once it has saved, and the next Tab goes on from where it was.
    await row('Sign-in by a code').getByRole('combobox').focus();
    for (const key of ['ArrowDown', 'Tab', 'Enter']) await page.keyboard.press(key);
    await toasted(page, 'Sign-in by a code: saved');
    await page.getByRole('button', { name: 'Use the default' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Use the default');
    await page.keyboard.press('Enter');
    await toasted(page, 'Sign-in by a code: the default holds');

    const signUp = row('Who may sign up');
    await signUp.getByRole('combobox').selectOption('domains');
    await signUp.getByRole('button', { name: 'Save' }).click();
    await signUp.getByText('Name at least one.').waitFor();
    await signUp.getByLabel('Domains, one a line').fill('non sense');
    await signUp.getByRole('button', { name: 'Save' }).click();
    await signUp.getByText('example.org').first().waitFor();
    expect(await signUp.getByRole('textbox').inputValue()).toBe('non sense');
    await signUp.getByRole('textbox').fill('example.org\n');
    await signUp.getByRole('button', { name: 'Save' }).click();
    await toasted(page, 'Who may sign up: saved');
    expect(await settingsFor(project.id, token)).toEqual({ signUp: { domains: ['example.org'] } });
    await signUp.getByRole('button', { name: 'Use the default' }).click();
    await toasted(page, 'Who may sign up: the default holds');
    expect(await settingsFor(project.id, token)).toEqual({});

    const callers = row('Who may make calls that cost');
    await callers.getByLabel('AI', { exact: true }).selectOption('users');
    await callers.getByLabel('Mails', { exact: true }).selectOption('roles');
    await callers.getByLabel('Mails: roles').fill('staff, editor');
    await callers.getByRole('button', { name: 'Save' }).click();
    await toasted(page, 'Who may make calls that cost: saved');
    const storage = row('What may be uploaded');
    await storage.getByLabel('Kinds of files').fill('image/*\n');
    await storage.getByLabel('Largest file').fill('5000000');
    await storage.getByRole('button', { name: 'Save' }).click();
    await toasted(page, 'What may be uploaded: saved');
    expect(await settingsFor(project.id, token)).toEqual({
      callers: { ai: ['users'], email: ['role:staff', 'role:editor'] },
      storage: { types: ['image/*'], maxBytes: 5_000_000 },
    });
    const channels = row('Channels');
    const example = await channels.getByRole('textbox').getAttribute('placeholder');
    await channels.getByRole('textbox').fill(String(example));
    await channels.getByRole('button', { name: 'Save' }).click();
    await toasted(page, 'Channels: saved');
    const largest = row('Largest upload');
    await largest.getByRole('spinbutton').fill('20971520');
    await largest.getByText('bytes: 20 MB').waitFor();
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.getByRole('heading', { name: 'Leave without saving?' }).waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    expect(await largest.getByRole('spinbutton').inputValue()).toBe('20971520');
    await largest.getByRole('button', { name: 'Discard' }).click();
    await shoot(page, 'settings-in-words');
    await expectAccessible(page);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('create a key that is shown once and works, and revoke it', async () => {
    const { page, project } = await bed.openProject('/settings/keys');
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('<img onerror> export');
    await shoot(page, 'key-create');
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const key = await page.getByRole('dialog').locator('pre').first().textContent();
    await shoot(page, 'key-made');
    const read = () => bed.platform.runtime(project.id)('GET', '/db/todos', { token: String(key) });
    expect((await read()).status).toBe(200);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.reload();
    await page.getByRole('row').filter({ hasText: '<img onerror> export' }).waitFor();
    expect(await page.content()).not.toContain(String(key));
    await shoot(page, 'keys');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Revoke <img onerror> export' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
    expect((await read()).status).toBe(401);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('show the config as a file, what a changed one would do, and apply it', async () => {
    const { page, project } = await bed.openProject('/settings/config');
    await page.getByRole('button', { name: 'Show what is set' }).click();
    const file = page.getByLabel('Config', { exact: true });
    await until(async () => (await file.inputValue()).includes('collections'));
    await file.fill('{ nonsense');
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByText('This is not JSON').waitFor();
    await file.fill(
      '{"settings":{"mustVerify":true},"collections":{"todos":{"access":"private"}}}',
    );
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByRole('list', { name: 'What would change' }).waitFor();
    await shoot(page, 'config-changes');
    await expectAccessible(page);
    expect(await settingsFor(project.id, project.owner.token)).toEqual({});
    await page.getByRole('button', { name: 'Apply 2 changes' }).click();
    await toasted(page, '2 changes applied');
    expect(await settingsFor(project.id, project.owner.token)).toEqual({ mustVerify: true });
    await page.getByText('done').first().waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('make a preview, show its token once, and promote what it has set', async () => {
    const { page, project } = await bed.openProject('/settings/copies');
    await page.getByRole('button', { name: 'Create preview' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Next version');
    await page.getByRole('dialog').getByRole('button', { name: 'Create preview' }).click();
    await page.getByRole('heading', { name: 'The preview is made' }).waitFor();
    const token = await page.getByRole('dialog').locator('pre').first().textContent();
    expect(token).toMatch(/^pv_/);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const card = page.getByRole('article').filter({ hasText: 'Next version' });
    const previewId = String(await card.locator('.mono').textContent());
    const owner = { token: project.owner.token };
    await bed.platform.control('PATCH', `/projects/${previewId}`, {
      ...owner,
      body: { settings: { createCollections: false } },
    });
    await shoot(page, 'copies');
    await expectAccessible(page);
    await card.getByRole('button', { name: 'Promote…' }).click();
    await page.getByRole('button', { name: 'Apply 1 change' }).click();
    await toasted(page, '1 change promoted');
    await card.getByRole('link', { name: 'Next version' }).click();
    await page.getByText('This is a preview of').waitFor();
    await page.getByRole('link', { name: 'promote it' }).click();
    await page.getByRole('heading', { name: 'Copies and previews' }).waitFor();
    await card.waitFor();
    expect(await settingsFor(project.id, owner.token)).toEqual({ createCollections: false });
    await card.getByRole('button', { name: 'Promote…' }).click();
    const promote = page.getByRole('dialog');
    await promote.getByText('Nothing would change').waitFor();
    expect(await promote.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await promote.getByRole('button', { name: 'Close', exact: true }).click();
    await card.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete preview' }).click();
    await page.getByRole('heading', { name: 'No previews' }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('go back to a restore point, after they have counted what that would do', async () => {
    const { page, project } = await bed.openProject('/settings/restore-points');
    const api = bed.platform.runtime(project.id);
    const write = (title: string) =>
      api('POST', '/db/todos', { token: project.owner.token, body: { data: { title } } });
    await write('before');
    await page.getByLabel('Name of a new restore point').fill('before-import');
    await page.getByRole('button', { name: 'Keep the state of now' }).click();
    await page.getByRole('cell', { name: 'before-import', exact: true }).waitFor();
    await write('after');
    await page.getByRole('button', { name: 'Go back…' }).click();
    await page.getByRole('button', { name: 'Take back 1 change' }).waitFor();
    await shoot(page, 'go-back');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Take back 1 change' }).click();
    await toasted(page, 'The records are as at before-import');
    const { body } = await api('GET', '/db/todos', { token: project.owner.token });
    expect(body.items.map(({ title }: { title: string }) => title)).toEqual(['before']);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
