import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const sizeBytes = 60_000_000;

describe.each(usualModes)('a refused upload in a real browser, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest(mode);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });

  const uploadFromPage = async (authorization: string | undefined) => {
    const page = await browser.newPage();
    await page.goto(`${platform.url}/account`);
    return page.evaluate(
      async ({ bytes, headers }) => {
        const form = new FormData();
        form.append('file', new Blob([new Uint8Array(bytes)]), 'film.bin');
        const options = { method: 'POST', body: form, headers };
        const response = await fetch('/api/runtime/demo/storage/upload', options);
        const { code } = (await response.json()) as { code: string };
        return { status: response.status, code };
      },
      { bytes: sizeBytes, headers: authorization === undefined ? {} : { authorization } },
    );
  };

  it('shows why the gateway refuses it', async () => {
    expect(await uploadFromPage('Bearer no-such-token')).toEqual({
      status: 401,
      code: 'invalid_token',
    });
  });

  it('shows why the service refuses it', async () => {
    expect(await uploadFromPage(undefined)).toEqual({ status: 413, code: 'body_too_large' });
  });
});
