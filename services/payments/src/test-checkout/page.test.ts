import { createRequire } from 'node:module';
import { mark, markHref, stylesheet, stylesheetHref } from '@backlot/design';
import { identityHeader } from '@backlot/identity';
import {
  anonymous,
  findTestRoute,
  type ServiceUnderTest,
  serveForTest,
  signed,
} from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const prefix = '/api/runtime/testproject';

describe('the page of the test checkout in a real browser', () => {
  let bed: TestBed;
  let front: ServiceUnderTest;
  let shop: ServiceUnderTest;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    bed = await createTestBed();
    front = await serveForTest((req, res) => {
      // The gateway's part.
      const linked = [stylesheetHref, markHref].indexOf(req.url ?? '');
      if (linked >= 0) {
        res.setHeader('content-type', linked === 0 ? 'text/css' : 'image/svg+xml');
        res.end(linked === 0 ? stylesheet : mark);
        return;
      }
      req.url = req.url?.replace(prefix, '') ?? '/';
      req.headers[identityHeader] = signed(
        anonymous(),
        findTestRoute(req.method ?? '', req.url),
        bed.clock.now(),
      );
      bed.service.app(req, res);
    });
    shop = await serveForTest((req, res) => {
      res.setHeader('content-type', 'text/html');
      res.end(
        `<!doctype html><title>Shop</title><p id=at></p>Back at ${new URL(req.url ?? '/', 'http://x').pathname}`,
      );
    });
    page = await (await browser.newContext({ locale: 'de' })).newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    for (const server of [front, shop]) await server?.stop();
    await bed?.close();
  });

  const open = async () => {
    const sessionId = await bed.session({
      items: [
        { name: 'Teapot "<b>blue</b>"', amount: 1999, quantity: 2 },
        { name: 'x'.repeat(250), amount: 5 },
      ],
      currency: 'eur',
      returnUrl: `${shop.url}/thanks?from=cart#top`,
    });
    await page.goto(`${front.url}${prefix}/payments/test-checkout/${sessionId}`);
    return sessionId;
  };
  const violations = async (): Promise<string[]> => {
    // The page's policy forbids scripts: axe runs outside of it.
    const checker = await browser.newContext({ bypassCSP: true, locale: 'de' });
    const copy = await checker.newPage();
    await copy.goto(page.url());
    await copy.addScriptTag({ path: axePath });
    const found = (await copy.evaluate('axe.run()')) as { violations: { id: string }[] };
    await checker.close();
    return found.violations.map(({ id }) => id);
  };
  const tabTo = async (name: string) => {
    for (let presses = 0; presses < 10; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement?.textContent')) === name) return;
    }
    throw new Error(`"${name}" can not be reached by the keyboard.`);
  };

  it('is paid by the keyboard alone, and leads back to the shop', async () => {
    const sessionId = await open();
    expect(await page.title()).toBe('Pay €40.03 to Test project');
    expect(await page.getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Item'),
      expect.stringMatching(/Teapot "<b>blue<\/b>"\s+2\s+€39.98/),
      expect.stringContaining('€0.05'),
    ]);
    await tabTo('Pay');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${shop.url}/**`);
    expect(page.url()).toBe(`${shop.url}/thanks?from=cart&session_id=${sessionId}#top`);
    expect((await bed.verify(sessionId)).body.paid).toBe(true);

    await page.goBack();
    await page.goto(`${front.url}${prefix}/payments/test-checkout/${sessionId}`);
    await page.getByText('Already paid').first().waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await violations()).toEqual([]);
  });

  it('is cancelled by the keyboard alone, and can be paid later', async () => {
    const sessionId = await open();
    await tabTo('Cancel');
    await page.keyboard.press('Space');
    await page.waitForURL(`${shop.url}/**`);
    expect(page.url()).toContain(`session_id=${sessionId}&canceled=1#top`);
    await page.goBack();
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.waitForURL(`${shop.url}/**`);
    expect((await bed.verify(sessionId)).body.paid).toBe(true);
  });

  it('has nothing for axe to find, on a wide screen and a narrow one', async () => {
    await open();
    expect(await violations()).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await violations()).toEqual([]);
    const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBe(false);
    expect(problems).toEqual([]);
  });

  it('says that it has expired', async () => {
    await open();
    bed.clock.pass(24 * 60 * 60 * 1000);
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByText('no longer valid').waitFor();
    expect(await violations()).toEqual([]);
    await page.getByRole('link', { name: /Back to/ }).click();
    await page.waitForURL(`${shop.url}/**`);
  });
});
