import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDatabase } from '@backlot/database';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

const hostile = '<img src=x onerror="document.title=\'run\'"> \u202Egnp.exe';

describe('mail, payments, AI and webhooks of a project in the console', () => {
  let bed: ConsoleUnderTest;
  let receiver: Server;
  let received = 0;
  beforeAll(async () => {
    bed = await consoleUnderTest();
    receiver = createServer((req, res) => {
      req.resume();
      received++;
      res.writeHead(received === 1 ? 500 : 204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  }, 300_000);
  afterAll(async () => {
    await bed?.stop();
    receiver?.close();
  });
  const toasted = (page: Page, text: string) =>
    page.getByText(text, { exact: true }).first().waitFor();

  it('mails stand with their state, and what they hold can do nothing', async () => {
    const { page, project } = await bed.openProject('/mail');
    await page.getByRole('heading', { name: 'No mails yet' }).waitFor();
    const send = bed.platform.runtime(project.id);
    const html = `<style>@import url(https://elsewhere.example/a.css); p { color: rgb(1, 2, 3) }</style>
      <p style="font-weight: 700; background: url('https://elsewhere.example/b.png')">It works</p>
      <a href="https://elsewhere.example/">Here</a><img src="https://elsewhere.example/seen.png">
      <script>parent.document.title = 'run'</script><img src=x onerror="parent.document.title = 'run'">`;
    const body = { to: 'shopper@example.org', subject: hostile, html };
    const { status } = await send('POST', '/email/send', { token: project.owner.token, body });
    expect(status).toBe(200);
    await page.reload();
    await page.locator('.badge', { hasText: 'in the mailbox' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'mails');
    await page.getByRole('button', { name: '<img src=x' }).click();
    const shown = page.frameLocator('iframe[title="The mail"]');
    const words = shown.getByText('It works');
    await words.waitFor();
    await until(async () => (await words.evaluate(readLook)) === 'rgb(1, 2, 3) 700');
    expect(await shown.locator('script, [onerror], [href]').count()).toBe(0);
    await shoot(page, 'mail');
    expect(await page.title()).toBe('Mail · Backlot');
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('mail that is stopped says since when and why, and how much waits', async () => {
    const { page, project } = await bed.openProject('/mail');
    await page.getByRole('heading', { name: 'No mails yet' }).waitFor();
    const database = createDatabase({ url: bed.platform.databaseUrl, schema: 'email' });
    try {
      await database.acrossProjects(() =>
        database.query(
          `INSERT INTO sending_stops (project_number, stopped_at, reason)
             SELECT number, now(), '11 of 200 mails bounced' FROM projects.projects WHERE id = $1`,
          [project.id],
        ),
      );
    } finally {
      await database.close();
    }
    await page.reload();
    await page.getByText('This project may not send.').waitFor();
    await page.getByText('11 of 200 mails bounced').waitFor();
    await expectAccessible(page);
    await shoot(page, 'mail-stopped');
    const operator = await bed.open(`/operator/projects/${project.id}`);
    await operator.getByLabel('Operator token').fill(bed.platform.operatorToken);
    await operator.keyboard.press('Enter');
    await operator.getByRole('button', { name: 'Let it send again' }).click();
    await toasted(operator, 'The project sends mail again');
    await operator.context().close();
    await page.reload();
    await page.getByRole('heading', { name: 'No mails yet' }).waitFor();
    await page.getByText('This project may not send.').waitFor({ state: 'detached' });
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('a mail template is worded beside how it looks, and what was written is not lost', async () => {
    const { page } = await bed.openProject('/mail/templates');
    await page.getByRole('link', { name: 'Create template' }).first().click();
    await page.getByLabel('Name').fill('receipt');
    await page.getByLabel('HTML').fill('<p onclick="x()">Dear {{name}}</p>');
    await page.getByRole('button', { name: 'Save template' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('receipt');
    await page.getByLabel('HTML').fill('<p>Dear {{name}}, order {{number}} is on its way.</p>');
    await page.getByRole('button', { name: 'Save template' }).click();
    await toasted(page, 'receipt is saved');
    const shown = page.frameLocator('iframe[title="Preview of the mail"]');
    await shown.getByText('Dear <name>, order sample-1').waitFor();
    await page.getByLabel('Data').fill('{"name": "Ada", "number": "17"}');
    await shown.getByText('Dear Ada, order 17').waitFor();
    await expectAccessible(page);
    await shoot(page, 'template');
    await page.getByLabel('Subject').fill('Changed');
    await page.getByRole('link', { name: 'Templates' }).click();
    await page.getByRole('heading', { name: 'Leave without saving?' }).waitFor();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('button', { name: 'Delete receipt' }).click();
    await page.getByRole('heading', { name: 'No templates yet' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'receipt' }).waitFor();
    await shoot(page, 'templates');
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('a product is made and sold, and a part of the money goes back once', async () => {
    const { page, project } = await bed.openProject('/payments/products');
    const api = bed.platform.runtime(project.id);
    await page.getByRole('button', { name: 'Create product' }).first().click();
    await page.getByLabel('Id').fill('shirt');
    await page.getByLabel('Name').fill('T-shirt');
    await page.getByLabel('Price').fill('nineteen');
    await page.getByRole('button', { name: 'Save product' }).click();
    await page.getByText('An amount of USD is written as 19.99.').waitFor();
    await page.getByLabel('Price').fill('19.99');
    await page.getByRole('button', { name: 'Save product' }).click();
    await page.getByRole('button', { name: 'Stock of T-shirt' }).click();
    await page.getByLabel('Stock of T-shirt').fill('5');
    await page.keyboard.press('Enter');
    await toasted(page, 'Stock of T-shirt is set');
    await expectAccessible(page);
    await shoot(page, 'products');
    const { body } = await api('POST', '/payments/checkout', {
      body: { items: [{ product: 'shirt', quantity: 2 }], returnUrl: 'http://localhost:3000/' },
    });
    await fetch(bed.platform.url + new URL(body.url).pathname, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'action=pay',
    });
    await page.getByRole('link', { name: 'Payments', exact: true }).last().click();
    await page.getByText('Test mode: no real money moves.').waitFor();
    await page.locator('.badge', { hasText: 'paid' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'payments');
    await page.getByRole('button', { name: '$39.98' }).click();
    await page.getByLabel('Give back, in USD').fill('10.00');
    await page.getByLabel('2 × shirt').check();
    await expectAccessible(page);
    await shoot(page, 'refund');
    await page.getByRole('button', { name: 'Give back…' }).click();
    await page.getByRole('button', { name: 'Give $10.00 back' }).click();
    await page.getByText('$10.00 given back').first().waitFor();
    expect((await api('GET', '/products/shirt')).body.stock).toBe(5);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('orders get a rule, and keys of Stripe are asked for with what is wrong with them', async () => {
    const { page } = await bed.openProject('/payments/orders');
    await page.getByRole('button', { name: 'Create rule' }).first().click();
    await page.getByLabel('Name').fill('order');
    await page.getByLabel('Collection of the orders').fill('orders');
    await page.getByRole('dialog').getByRole('button', { name: 'Create rule' }).click();
    await page.getByRole('cell', { name: 'its own items' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'orders');
    await page.getByRole('link', { name: 'Stripe' }).click();
    await page.getByLabel('Secret or restricted key').fill('nonsense');
    await page.getByRole('button', { name: 'Connect Stripe' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Secret or restricted key').inputValue()).toBe('nonsense');
    await expectAccessible(page);
    await shoot(page, 'stripe');
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('a prompt is tried before it is saved, and its call is counted', async () => {
    const { page } = await bed.openProject('/ai/prompts');
    await page.getByRole('button', { name: 'Create prompt' }).first().click();
    await page.getByLabel('Name').fill('tutor');
    await page.getByLabel('System text').fill('You teach chess.');
    await page.getByLabel('Try it').fill('How does a knight move?');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('dialog').locator('output').waitFor();
    await expectAccessible(page);
    await shoot(page, 'prompt');
    await page.getByRole('button', { name: 'Save prompt' }).click();
    await page.getByRole('article', { name: 'tutor' }).waitFor();
    await shoot(page, 'prompts');
    await page.getByRole('link', { name: 'Model and budgets' }).click();
    await page.getByText('aiPerVisitorPerDay').waitFor();
    await expectAccessible(page);
    await shoot(page, 'budgets');
    await page.getByRole('link', { name: 'Calls and tokens' }).click();
    await until(async () => {
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'AI' }).waitFor();
      await page.locator('[role="status"]').waitFor({ state: 'detached' });
      return (await page.getByText('1 call,').count()) > 0;
    });
    await expectAccessible(page);
    await shoot(page, 'ai');
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('a webhook shows its secret once, what it could not tell, and tells it again', async () => {
    const { page, project } = await bed.openProject('/webhooks');
    await page.getByRole('button', { name: 'Create webhook' }).first().click();
    await page.getByLabel('Name').fill('orders');
    const { port } = receiver.address() as AddressInfo;
    await page.getByLabel('Address').fill(`http://localhost:${port}/hook`);
    await page.getByLabel('record.created', { exact: true }).check();
    await page.getByLabel('Collections of record.created').fill('orders');
    await page.getByLabel('Only records that match').fill('{"status": "open"}');
    await expectAccessible(page);
    await shoot(page, 'webhook-create');
    await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click();
    const secret = String(await page.getByRole('dialog').locator('pre').first().textContent());
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('heading', { name: 'Nothing sent yet' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const { token } = project.owner;
    const body = { data: { status: 'open' } };
    await bed.platform.runtime(project.id)('POST', '/db/orders', { token, body });
    await page.locator('.badge', { hasText: 'taken' }).waitFor();
    await page.getByRole('button', { name: 'record.created', exact: true }).click();
    await page.getByText('it answered 500').waitFor();
    await expectAccessible(page);
    await shoot(page, 'webhook');
    const before = received;
    await page.getByRole('button', { name: 'Send again: record.created' }).click();
    await until(() => received > before);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: 'orders' }).waitFor();
    await expectAccessible(page);
    await shoot(page, 'webhooks');
    await page.getByRole('link', { name: 'orders' }).click();
    await page.getByRole('button', { name: 'More of orders' }).click();
    await page.getByRole('menuitem', { name: 'Delete webhook…' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});

declare const getComputedStyle: (element: unknown) => { color: string; fontWeight: string };
const readLook = (element: unknown) => {
  const { color, fontWeight } = getComputedStyle(element);
  return `${color} ${fontWeight}`;
};
