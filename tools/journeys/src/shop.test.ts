import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type World, withProviders, withStandIns } from './providers-under-test.ts';

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const shopkeeper = 'shop@example.org';

describe.each([
  ['the stand-ins of pnpm dev', withStandIns],
  ['real providers’ counterparts', () => withProviders(shopkeeper)],
])('the shop in a real browser, with %s', (_name, create) => {
  let world: World;
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    world = await create();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(`${world.platform.url}/examples/shop/`);
    return page;
  };
  const credits = async () => {
    const { owner, runtime, control } = world.platform;
    const { body } = await runtime('platform')('POST', '/auth/signin', { body: owner });
    return (await control('GET', '/projects/demo/usage?by=route', { token: body.token })).body;
  };

  it('goes from sign-up to a receipt that says paid', async () => {
    const page = await open();
    await page.getByText('Nothing is for sale yet').waitFor();
    const account = page.locator('#account');
    await account.getByLabel('E-mail').fill('ada@example.org');
    await account.getByLabel('Password').fill('a good long password');
    await account.getByRole('button', { name: 'Sign up' }).click();
    await page.getByLabel('Name of the product').fill('Teapot <small>');
    await page.getByLabel('Price in US dollars').fill('19.99');
    await page.getByRole('button', { name: 'Write a description' }).click();
    const description = page.getByLabel('Description');
    await until(async () => (await description.inputValue()).includes(world.phrase));
    await page
      .getByLabel('Photo')
      .setInputFiles({ name: 'teapot.png', mimeType: 'image/png', buffer: pixel });
    await page.getByRole('button', { name: 'Put up for sale' }).click();
    await page.getByRole('heading', { name: 'Teapot <small>' }).waitFor();
    const photo = page.locator('.products img');
    await until(
      async () => (await photo.evaluate((image) => Reflect.get(image, 'naturalWidth'))) === 1,
    );

    const add = page.getByRole('button', { name: 'Add Teapot <small> to basket' });
    await add.click();
    await add.click();
    await page.getByRole('cell', { name: '$39.98' }).first().waitFor();
    await page.getByRole('button', { name: 'Check out' }).click();
    await page.waitForURL(({ pathname }) => !pathname.startsWith('/examples'));
    await page.getByText('Teapot <small>').first().waitFor();
    await page.getByRole('button', { name: /pay/i }).click();
    await page.waitForURL(/receipt\.html\?project=demo&session_id=/);
    await page.getByText('Thank you!').waitFor();
    await page.getByRole('cell', { name: '$39.98' }).first().waitFor();

    const session = new URL(page.url()).searchParams.get('session_id') ?? '';
    const { body } = await world.platform.runtime()(
      'GET',
      `/payments/verify?session_id=${session}`,
    );
    expect(body).toMatchObject({ paid: true, payment: { status: 'paid', amount: 3998 } });
  }, 60_000);

  it('says that nothing was paid when the payer canceled', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Add Teapot <small> to basket' }).click();
    await page.getByRole('button', { name: 'Check out' }).click();
    await page.waitForURL(({ pathname }) => !pathname.startsWith('/examples'));
    await page.getByText(/^cancel/i).click();
    await page.getByText('You canceled. Nothing was paid.').waitFor();
  }, 60_000);

  it('a question by mail lies in the mailbox, as the text that it is', async () => {
    const page = await open();
    await page.getByLabel('Your e-mail').fill('bob@example.org');
    await page.getByLabel('Message').fill('Is it <b>round</b>?\nYours, Bob');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Sent. Thank you!').waitFor();
    const { deliveredTo } = world;
    if (deliveredTo) {
      const mail = await until(async () => (await deliveredTo(shopkeeper))[0]);
      expect(mail).toContain('Is it &lt;b&gt;round&lt;/b&gt;?');
      return;
    }
    await page.goto(world.platform.mailboxUrl);
    await page.getByRole('link', { name: /A question from bob@example.org/ }).click();
    const mail = page.frameLocator('iframe');
    await mail.getByText('Is it <b>round</b>?').waitFor();
  }, 60_000);

  it('no page has said an error', () => expect(problems).toEqual([]));

  it('costs the owner a text, a photo and a mail', async () => {
    const { items } = await credits();
    expect(items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ route: 'generateText', calls: 1 }),
        expect.objectContaining({ route: 'sendEmail', calls: 1, millicredits: 1000 }),
        expect.objectContaining({ route: 'uploadFile', calls: 1, millicredits: 1000 }),
      ]),
    );
  });
});
