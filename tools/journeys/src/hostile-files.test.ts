import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** Tells the test that it ran, by any way that a page has. */
const script = `fetch('/ran');document.title='ran';new Image().src='/ran';`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script></svg>`;
const html = `<!doctype html><title>x</title><script>${script}</script><img src=x onerror="${script}">`;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const hostile: [string, string, string | Buffer][] = [
  ['HTML', 'a.html', html],
  ['HTML called an image', 'a.png', html],
  ['HTML after white space', 'a.html', `${' \n'.repeat(600)}${html}`],
  ['HTML with a byte order mark', 'a.html', `\ufeff${html}`],
  [
    'XHTML',
    'a.xhtml',
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`,
  ],
  ['an SVG', 'a.svg', svg],
  ['an SVG with an XML declaration', 'a.svg', `<?xml version="1.0"?>${svg}`],
  ['a PNG with HTML behind it', 'a.html', Buffer.concat([png, Buffer.from(html)])],
  ['a GIF that is a script', 'a.js', `GIF89a=1;/*${html}*/${script}`],
  ['JavaScript', 'a.js', script],
  ['a PDF with HTML', 'a.html', `%PDF-1.7\n${html}`],
  ['an MHTML', 'a.mht', `MIME-Version: 1.0\nContent-Type: text/html\n\n${html}`],
];

describe('hostile files in a real browser', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });

  const upload = async (name: string, content: string | Buffer): Promise<string> => {
    const form = new FormData();
    const bytes = typeof content === 'string' ? content : new Uint8Array(content);
    form.append('file', new Blob([bytes], { type: 'text/html' }), name);
    const url = `${platform.url}/api/runtime/demo/storage/upload`;
    const answer = await fetch(url, { method: 'POST', body: form });
    return (JSON.parse(await answer.text()) as { url: string }).url;
  };

  it.each(hostile)('run nothing: %s', async (_what, name, content) => {
    const url = await upload(name, content);
    const context = await browser.newContext();
    const ran: string[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/ran')) ran.push(request.url());
    });
    const page = await context.newPage();
    // A file that is saved ends the navigation.
    await page.goto(url).catch((error: Error) => {
      if (!/Download is starting|ERR_ABORTED/.test(error.message)) throw error;
    });
    expect(await page.title()).not.toBe('ran');

    // Embedded in a page of the very same origin.
    await page.goto(`${platform.url}/docs`);
    await page.evaluate(`(async () => {
      const waits = ['script', 'iframe', 'embed', 'img'].map((tag) => {
        const element = Object.assign(document.createElement(tag), { src: ${JSON.stringify(url)} });
        const settled = new Promise((resolve) => {
          element.onload = element.onerror = resolve;
          setTimeout(resolve, 500);
        });
        document.body.append(element);
        return settled;
      });
      await Promise.all(waits);
    })()`);
    expect(await page.title()).not.toBe('ran');
    expect(ran).toEqual([]);
    await context.close();
  });

  it('and a harmless image is shown', async () => {
    const url = await upload('a.png', png);
    const page = await browser.newPage();
    await page.goto(url);
    const width = await page.evaluate('document.images[0].naturalWidth');
    expect(width).toBe(1);
    await page.close();
  });
});
