import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from '../console-under-test.ts';

const refusal = 'Something went wrong on our side.';

interface Form {
  /** Below the project. */
  at: string;
  /** A button that leads to it. */
  opens?: string;
  fields: Readonly<Record<string, string>>;
  sends: string;
  /** What is there once it was sent. */
  shows: string;
}

const forms: readonly Form[] = [
  {
    at: 'data',
    opens: 'Create collection',
    fields: { Name: 'todos' },
    sends: 'Create collection',
    shows: 'todos has no records yet',
  },
  {
    at: 'users',
    opens: 'Invite user',
    fields: { 'E-mail address': 'ada@example.org', Name: 'Ada' },
    sends: 'Invite user',
    shows: 'A link to choose a password was mailed',
  },
  {
    at: 'groups',
    opens: 'Create group',
    fields: { Name: 'Bakery' },
    sends: 'Create group',
    shows: 'Bakery',
  },
  {
    at: 'mail/new-template',
    fields: { Name: 'receipt', Subject: 'Thanks', HTML: '<p>Thanks</p>' },
    sends: 'Save template',
    shows: 'receipt is saved',
  },
  {
    at: 'payments/products',
    opens: 'Create product',
    fields: { Id: 'shirt', Name: 'T-shirt', Price: '19.99' },
    sends: 'Save product',
    shows: 'T-shirt is saved',
  },
  {
    at: 'payments/orders',
    opens: 'Create rule',
    fields: { Name: 'order', 'Collection of the orders': 'orders' },
    sends: 'Create rule',
    shows: 'its own items',
  },
  {
    at: 'ai/prompts',
    opens: 'Create prompt',
    fields: { Name: 'tutor', 'System text': 'You teach chess.' },
    sends: 'Save prompt',
    shows: 'tutor is saved',
  },
  {
    at: 'settings/keys',
    opens: 'Create key',
    fields: { Name: 'export' },
    sends: 'Create key',
    shows: 'I have copied it',
  },
  {
    at: 'settings/members',
    opens: 'Invite somebody',
    fields: { 'E-mail address': 'somebody@example.org' },
    sends: 'Send invitation',
    shows: 'somebody@example.org',
  },
  {
    at: 'settings/config',
    fields: { Config: '{ "settings": { "mustVerify": true } }' },
    sends: 'Show what would change',
    shows: 'Apply 1 change',
  },
  {
    at: 'settings/restore-points',
    fields: { 'Name of a new restore point': 'before-import' },
    sends: 'Keep the state of now',
    shows: 'before-import',
  },
];

describe('the console while writes fail', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  const failWrites = (page: Page) =>
    page.route('**/api/**', (route) =>
      route.request().method() === 'GET'
        ? route.continue()
        : route.fulfill({ status: 500, json: { error: refusal, code: 'internal' } }),
    );
  const close = async (page: Page) => {
    expect(bed.problems).toEqual([]);
    await page.context().close();
  };

  it('says so in every form, keeps what was typed, and takes it the next time', async () => {
    const { page, project } = await bed.openProject('/data');
    for (const { at, opens, fields, sends, shows } of forms) {
      await page.goto(`${bed.platform.url}/console/projects/${project.id}/${at}`);
      if (opens) await page.getByRole('button', { name: opens }).first().click();
      const form = opens ? page.getByRole('dialog') : page.getByRole('main');
      const field = (name: string) => form.getByLabel(name, { exact: true });
      for (const [name, text] of Object.entries(fields)) await field(name).fill(text);
      await failWrites(page);
      await form.getByRole('button', { name: sends }).click();
      await form.getByRole('alert').filter({ hasText: refusal }).waitFor();
      if (at === 'payments/products') await shoot(page, 'write-fails');
      for (const [name, text] of Object.entries(fields))
        expect([at, name, await field(name).inputValue()]).toEqual([at, name, text]);
      await page.unroute('**/api/**');
      await form.getByRole('button', { name: sends }).click();
      await page.getByText(shows).first().waitFor();
    }
    await close(page);
  });

  it('puts back what a cell of the grid was to be, and uploads a file once more', async () => {
    const { page, project } = await bed.openProject('/data');
    const { token } = project.owner;
    await project.api('POST', '/db/notes', { token, body: { data: { title: 'Before' } } });
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/data/notes`);
    await page.getByRole('gridcell', { name: 'Before', exact: true }).click();
    await page.getByRole('grid').focus();
    await page.keyboard.press('Enter');
    const editor = page.getByRole('textbox', { name: 'title' });
    await editor.fill('After');
    await failWrites(page);
    await editor.press('Enter');
    await page.getByText(refusal).first().waitFor();
    expect(await editor.inputValue()).toBe('After');
    await shoot(page, 'write-fails-in-cell');
    await page.unroute('**/api/**');
    await editor.press('Enter');
    await page.getByRole('gridcell', { name: 'After', exact: true }).waitFor();

    await page.goto(`${bed.platform.url}/console/projects/${project.id}/files`);
    await failWrites(page);
    await page
      .getByLabel('Files to upload')
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Plan') });
    await page.getByText('not uploaded').waitFor();
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'plan.txt' }).waitFor();
    await close(page);
  });

  it('keeps rules that were chosen, and a form over which the session ended', async () => {
    const { page, project } = await bed.openProject('/data');
    const { token, email } = project.owner;
    await project.api('POST', '/db/notes', { token, body: { data: { title: 'A' } } });
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/rules/notes`);
    const reads = page.getByRole('region', { name: 'Who reads records' });
    await reads.getByRole('button', { name: 'Take out: anyone' }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await failWrites(page);
    await page.getByRole('button', { name: 'Set these rules' }).click();
    await page.getByRole('alert').filter({ hasText: refusal }).first().waitFor();
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Set these rules' }).click();
    await page.getByText('The rules of notes hold now').waitFor();

    await page.goto(`${bed.platform.url}/console/projects/${project.id}/groups`);
    await page.getByRole('button', { name: 'Create group' }).first().click();
    await page.getByLabel('Name').fill('Bakery');
    await bed.platform.runtime('platform')('POST', '/auth/signout', { token, body: { all: true } });
    await page.getByRole('dialog').getByRole('button', { name: 'Create group' }).click();
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    expect(await again.getByLabel('E-mail address').inputValue()).toBe(email);
    await again.getByLabel('Password').fill('a good long password');
    await shoot(page, 'session-ended-over-form');
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Bakery');
    await page.getByRole('dialog').getByRole('button', { name: 'Create group' }).click();
    await page.getByRole('heading', { name: 'Bakery' }).waitFor();
    await close(page);
  });
});
