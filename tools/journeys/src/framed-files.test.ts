import { serveForTest } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** One page, red all over. */
const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R>>endobj
4 0 obj<</Length 26>>stream
1 0 0 rg 0 0 300 200 re f
endstream endobj
trailer<</Root 1 0 R>>`;

describe('a PDF in a frame', () => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let browser: Browser;
  /** Of the app, and of somebody else: any path is a page that frames the address after its `?`. */
  let hosts: Awaited<ReturnType<typeof serveForTest>>[];
  beforeAll(async () => {
    const open = () =>
      serveForTest((req, res) => {
        const framed = decodeURIComponent(String(req.url).replace(/^[^?]*\?/, ''));
        res.setHeader('content-type', 'text/html');
        res.end(
          `<!doctype html><body style="margin:0"><iframe width="400" height="300" src="${framed}">`,
        );
      });
    hosts = [await open(), await open()];
    browser = await launchChromium({ showsPdf: true });
    platform = await platformUnderTest('http');
    project = await platform.newProject();
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    for (const host of hosts ?? []) await host.stop();
  });

  const upload = async (): Promise<string> => {
    const form = new FormData();
    form.append('file', new Blob([pdf]), 'plan.pdf');
    const url = `${platform.url}/api/runtime/${project.id}/storage/upload`;
    const answer = await fetch(url, { method: 'POST', body: form });
    return (JSON.parse(await answer.text()) as { url: string }).url;
  };
  const allow = (allowedOrigins: string[] | null) =>
    platform.control('PATCH', `/projects/${project.id}`, {
      token: project.owner.token,
      body: { settings: { allowedOrigins } },
    });
  const origin = (n: number) => String(hosts[n]?.url);

  /** The colour in the middle of the frame, once it is red or refused. */
  const isShown = async (host: string, url: string): Promise<boolean> => {
    const page = await browser.newPage({ viewport: { width: 400, height: 300 } });
    const paint = await browser.newPage();
    try {
      await page.goto(`${host}/page?${encodeURIComponent(url)}`);
      for (let n = 0; n < 100; n++) {
        if (page.frames().some((frame) => frame.url().startsWith('chrome-error:'))) return false;
        const picture = (await page.screenshot()).toString('base64');
        const colour = await paint.evaluate(`(async () => {
          const image = Object.assign(new Image(), { src: 'data:image/png;base64,${picture}' });
          await image.decode();
          const canvas = document.createElement('canvas').getContext('2d');
          canvas.drawImage(image, 0, 0);
          return [...canvas.getImageData(200, 120, 1, 1).data];
        })()`);
        if (JSON.stringify(colour) === '[255,0,0,255]') return true;
      }
      throw new Error(`neither shown nor refused: ${page.frames().map((frame) => frame.url())}`);
    } finally {
      await page.close();
      await paint.close();
    }
  };

  it('is shown by pages of the app, and by all where its owner lists none', async () => {
    const url = await upload();
    expect(await isShown(origin(0), url)).toBe(true);
    await allow([origin(0)]);
    const policy = async () => {
      const answer = await fetch(url);
      await answer.arrayBuffer();
      return answer.headers.get('content-security-policy');
    };
    expect(await policy()).toBe(`frame-ancestors 'self' ${origin(0)}`);
    expect(await isShown(origin(0), url)).toBe(true);
    expect(await isShown(origin(1), url)).toBe(false);
    await allow([origin(0), origin(1)]);
    expect(await isShown(origin(1), url)).toBe(true);
  });
});
