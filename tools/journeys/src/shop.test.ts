import { until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { attackShop, refusals } from './hostile-visitor.ts';
import { type World, withProviders, withStandIns } from './providers-under-test.ts';

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const password = 'a good long password';

describe.each([
  ['the stand-ins of pnpm dev', withStandIns],
  ['real providers’ counterparts', withProviders],
])('the shop in real browsers, with %s', (_name, create) => {
  let world: World;
  let browser: Browser;
  /** Each with a browser of its own. */
  let customer: Page;
  let staff: Page;
  let hostile: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    world = await create();
    customer = await open();
    staff = await open('staff.html');
    hostile = await open();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });

  const open = async (path = ''): Promise<Page> => {
    const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && page !== hostile) problems.push(message.text());
    });
    await page.goto(`${world.platform.url}/examples/shop/${path}`);
    return page;
  };
  const signUp = async (page: Page, name: string) => {
    const account = page.locator('#account');
    await account.getByLabel('E-mail').fill(`${name}@example.org`);
    await account.getByLabel('Password').fill(password);
    await account.getByRole('button', { name: 'Sign up' }).click();
    await page.locator('#who-name').getByText(`${name}@example.org`).waitFor();
  };
  /** Up to the page where it is paid. */
  const order = async (page: Page, quantity: number) => {
    const add = page.getByRole('button', { name: 'Add Teapot <small> to basket' });
    for (let n = 0; n < quantity; n++) await add.click();
    await page.getByLabel('Deliver to').fill('1 Harbour Street');
    await page.getByRole('button', { name: 'Check out' }).click();
    await page.waitForURL(({ pathname }) => !pathname.startsWith('/examples'));
    await page.getByText('Teapot <small>').first().waitFor();
  };
  const pay = async (page: Page) => {
    await page.getByRole('button', { name: /pay/i }).click();
    await page.waitForURL(/receipt\.html\?project=demo&session_id=/);
    return new URL(page.url()).searchParams.get('session_id') ?? '';
  };
  const verify = async (session: string) =>
    (await world.platform.runtime()('GET', `/payments/verify?session_id=${session}`)).body;
  const verifyAsOwner = async (session: string) => {
    const { email, password } = world.platform.owner;
    const signIn = { body: { email, password } };
    const { body } = await world.platform.runtime('platform')('POST', '/auth/signin', signIn);
    const path = `/payments/verify?session_id=${session}`;
    return (await world.platform.runtime()('GET', path, { token: body.token })).body;
  };
  const confirmAddress = async (email: string) => {
    const { control, operatorToken: token } = world.platform;
    const { body } = await control('GET', `/projects/demo/users?email=${email}`, { token });
    const path = `/projects/demo/users/${body.items[0].id}`;
    const { status } = await control('PATCH', path, { token, body: { emailVerified: true } });
    expect(status).toBe(200);
  };
  const mailsTo = async (email: string) => {
    const { control, operatorToken: token } = world.platform;
    return (await control('GET', `/projects/demo/emails?email=${email}`, { token })).body.items;
  };
  const orderIn = (page: Page, state: string) =>
    page.locator('#orders').getByRole('listitem').filter({ hasText: state });

  it('is set up by its owner, who makes a user staff', async () => {
    await customer.getByText('Nothing is for sale yet').waitFor();
    await signUp(staff, 'sam');
    await staff.getByText('This account is not staff.').waitFor();
    const owner = await open('set-up.html');
    await owner.getByLabel('The owner’s e-mail').fill(world.platform.owner.email);
    await owner.getByLabel('Password').fill(world.platform.owner.password);
    await owner.getByRole('button', { name: 'Sign in as owner' }).click();
    await owner.getByRole('button', { name: 'Set up' }).click();
    await owner.getByText('The shop is ready.').waitFor();
    const sam = owner.getByRole('listitem').filter({ hasText: 'sam@example.org' });
    await sam.getByRole('button', { name: 'Make staff' }).click();
    await staff.getByLabel('Name of the product').waitFor();
    await owner.close();
  });

  it('sells what the staff put up for sale', async () => {
    await staff.getByLabel('Name of the product').fill('Teapot <small>');
    await staff.getByLabel('Price in US dollars').fill('19.99');
    await staff.getByLabel('In stock').fill('9');
    await staff.getByRole('button', { name: 'Write a description' }).click();
    const description = staff.getByLabel('Description');
    await until(async () => (await description.inputValue()).includes(world.phrase));
    await staff
      .getByLabel('Photo')
      .setInputFiles({ name: 'teapot.png', mimeType: 'image/png', buffer: pixel });
    await staff.getByRole('button', { name: 'Put up for sale' }).click();
    await staff.getByText('$19.99, 9 in stock').waitFor();

    await customer.reload();
    await customer.getByRole('heading', { name: 'Teapot <small>' }).waitFor();
    await customer.locator('.products').getByText(world.phrase).waitFor();
    const photo = customer.locator('.products img');
    await until(
      async () => (await photo.evaluate((image) => Reflect.get(image, 'naturalWidth'))) === 1,
    );
  });

  it('leads from the basket to a receipt that says paid, and the staff send what was paid', async () => {
    await signUp(customer, 'ada');
    await order(customer, 2);
    const session = await pay(customer);
    await customer.getByText('Thank you!').waitFor();
    await customer.getByRole('cell', { name: '$39.98' }).first().waitFor();
    // Who only knows the session's id learns no more.
    expect(await verify(session)).toEqual({ paid: true });

    await confirmAddress('ada@example.org');
    await customer.getByRole('button', { name: 'Mail me this receipt' }).click();
    await customer.getByText('Sent.').waitFor();
    const [mail] = await mailsTo('ada@example.org');
    expect(mail).toMatchObject({ to: ['ada@example.org'], subject: 'Your receipt: $39.98' });
    expect(mail.html).toContain('2 × Teapot &lt;small&gt;');

    const paid = orderIn(staff, 'paid');
    await paid.getByText('2 × Teapot <small>').waitFor();
    await paid.getByText('1 Harbour Street').waitFor();
    await paid.getByRole('button', { name: 'Mark as sent' }).click();
    await orderIn(staff, 'sent').waitFor();
    await customer.getByRole('link', { name: 'Back to the shop' }).click();
    await orderIn(customer, 'sent').getByText('2 × Teapot <small>').waitFor();
    await staff.reload();
    await staff.getByText('$19.99, 7 in stock').waitFor();
  });

  it('keeps an order whose payer canceled, unpaid', async () => {
    await order(customer, 1);
    await customer.getByText(/^cancel/i).click();
    await customer.getByText('You canceled. Nothing was paid.').waitFor();
    await customer.getByRole('link', { name: 'Back to the shop' }).click();
    await orderIn(customer, 'not paid').getByRole('button', { name: 'Pay' }).waitFor();
    expect(await orderIn(staff, 'not paid').count()).toBe(0);
  });

  it('refuses a hostile visitor all that is not theirs', async () => {
    const baseUrl = `${world.platform.url}/api/runtime/demo`;
    const victims: string[] = await customer.evaluate(async (base) => {
      const module = '/sdk.js';
      const { createClient } = await import(module);
      const { items } = await createClient(base).db('orders').list();
      return items.map(({ id }: { id: string }) => id);
    }, baseUrl);
    expect(victims).toHaveLength(2);
    await signUp(hostile, 'eve');
    const attack = await hostile.evaluate(attackShop, {
      baseUrl,
      unpaid: victims[0] ?? '',
      account: { email: 'eve@example.org', password },
      returnUrl: `${world.platform.url}/examples/shop/receipt.html?project=demo`,
    });
    expect(attack.seen).toEqual([
      [true],
      { count: 1 },
      [{ count: 1, max: { address: null } }],
      true,
    ]);
    expect(Object.fromEntries(attack.refused)).toEqual(refusals);
    expect(
      (await mailsTo('eve@example.org')).map(({ subject }: { subject: string }) => subject),
    ).toEqual([expect.stringContaining('Confirm')]);

    // One teapot is paid honestly, and is not two.
    await hostile.goto(attack.cheapUrl);
    const session = await pay(hostile);
    await until(
      async () => (await verifyAsOwner(session)).payment.onPaid.outcome === 'items_differ',
    );
    await hostile.getByRole('link', { name: 'Back to the shop' }).click();
    await orderIn(hostile, 'not paid').waitFor();
    await hostile.goto(`${world.platform.url}/examples/shop/staff.html`);
    await hostile.getByText('This account is not staff.').waitFor();
    expect(await orderIn(staff, 'paid').count()).toBe(0);
  });

  it('sends a question to its owner, as the text that it is', async () => {
    const page = await open();
    await page.getByLabel('Your e-mail').fill('bob@example.org');
    await page.getByLabel('Message').fill('Is it <b>round</b>?\nYours, Bob');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Sent. Thank you!').waitFor();
    const { deliveredTo, platform } = world;
    if (deliveredTo) {
      const source = await until(async () => {
        const mails = await deliveredTo(platform.owner.email);
        return mails.find((mail) => /^Subject: A question/m.test(mail));
      });
      const mail = source.replace(/=\r?\n/g, '');
      expect(mail).toContain('Is it &lt;b&gt;round&lt;/b&gt;?');
      expect(mail).toContain('Reply-To: bob@example.org');
      return;
    }
    await page.goto(platform.mailboxUrl);
    await page.getByRole('link', { name: /A question from bob@example.org/ }).click();
    const mail = page.frameLocator('iframe');
    await mail.getByText('Is it <b>round</b>?').waitFor();
  });

  it('no page has said an error', () => expect(problems).toEqual([]));

  it('costs the owner a text, a photo and two mails', async () => {
    const { owner, runtime, control } = world.platform;
    const { body } = await runtime('platform')('POST', '/auth/signin', { body: owner });
    const usage = await control('GET', '/projects/demo/usage?by=route', { token: body.token });
    expect(usage.body.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ route: 'generateText', calls: 1 }),
        expect.objectContaining({ route: 'sendEmail', calls: 2, millicredits: 2000 }),
        expect.objectContaining({ route: 'uploadFile', calls: 1, millicredits: 1000 }),
      ]),
    );
  });
});
