import { serveForTest, until } from '@backlot/testing';
import { launchChromium } from '@backlot/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** Stands for a server that the test runs. */
const outside = 'http://outside.test';
/** Tells the test that it ran, by any way that a page has. */
const script = `fetch('/ran');document.title='ran';new Image().src='/ran';`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script></svg>`;
const html = `<!doctype html><title>x</title><script>${script}</script><img src=x onerror="${script}">`;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** An SVG that has these in it, with all names that it may use. */
const svgWith = (content: string, before = '') =>
  `${before}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40">${content}</svg>`;
const inHtml = (content: string) =>
  svgWith(
    `<foreignObject width="40" height="40"><body xmlns="http://www.w3.org/1999/xhtml">${content}</body></foreignObject>`,
  );
const entities = Array.from({ length: 12 }, (_, n) => {
  const content = n === 0 ? 'lol' : `&l${n - 1};`.repeat(10);
  return `<!ENTITY l${n} "${content}">`;
}).join('');

const hostileSvgs: [string, string][] = [
  ['a script', svgWith(`<script>${script}</script>`)],
  ['a script from outside', svgWith(`<script href="${outside}/a.js"/>`)],
  ['a script in data', svgWith(`<script xlink:href="data:text/javascript,${script}"/>`)],
  ['a handler', svg],
  [
    'handlers of animations',
    svgWith(
      `<rect><animate attributeName="x" dur="1ms" onbegin="${script}" onend="${script}"/></rect>`,
    ),
  ],
  [
    'an animated link',
    svgWith(
      `<a><set attributeName="href" to="javascript:${script}"/><rect width="40" height="40"/></a>`,
    ),
  ],
  [
    'a link to a script',
    svgWith(`<a href="javascript:${script}"><rect width="40" height="40"/></a>`),
  ],
  ['HTML with a script', inHtml(`<script>${script}</script><img src="x" onerror="${script}"/>`)],
  ['HTML with frames', inHtml(`<iframe src="${outside}"/><object data="${outside}/o"/>`)],
  ['HTML with a frame of its own', inHtml(`<iframe srcdoc="&lt;script>${script}&lt;/script>"/>`)],
  [
    'HTML that leads away',
    inHtml(`<meta http-equiv="refresh" content="0;url=${outside}/away"/><base href="${outside}"/>`),
  ],
  [
    'HTML with a form',
    inHtml(
      `<form action="${outside}/form"><button style="width:40px;height:40px">OK</button></form>`,
    ),
  ],
  [
    'pictures from outside',
    svgWith(`<image href="${outside}/a.png"/><use href="${outside}/a.svg#a"/>`),
  ],
  ['a filter from outside', svgWith(`<filter id="f"><feImage href="${outside}/f"/></filter>`)],
  [
    'styles from outside',
    svgWith(
      `<style>@import url(${outside}/a.css); @font-face { font-family: a; src: url(${outside}/a.woff) } rect { fill: url(${outside}/a.svg#a); background: url(${outside}/b) } text { font-family: a }</style><rect width="40" height="40"/><text>a</text>`,
    ),
  ],
  [
    'a style sheet from outside',
    svgWith('', `<?xml version="1.0"?><?xml-stylesheet href="${outside}/a.css" type="text/css"?>`),
  ],
  [
    'a transformation into HTML',
    svgWith('', `<?xml version="1.0"?><?xml-stylesheet href="${outside}/a.xsl" type="text/xsl"?>`),
  ],
  [
    'entities from outside',
    svgWith(
      '<text>&amp;a;&amp;b;</text>',
      `<?xml version="1.0"?><!DOCTYPE svg SYSTEM "${outside}/a.dtd" [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b SYSTEM "${outside}/b">]>`,
    ).replaceAll('&amp;', '&'),
  ],
  [
    'a bomb of entities',
    svgWith('<text>&l11;</text>', `<?xml version="1.0"?><!DOCTYPE svg [${entities}]>`),
  ],
];

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
  ['a PNG with HTML behind it', 'a.html', Buffer.concat([png, Buffer.from(html)])],
  ['a GIF that is a script', 'a.js', `GIF89a=1;/*${html}*/${script}`],
  ['JavaScript', 'a.js', script],
  ['a PDF with HTML', 'a.html', `%PDF-1.7\n${html}`],
  ['an MHTML', 'a.mht', `MIME-Version: 1.0\nContent-Type: text/html\n\n${html}`],
];

describe('hostile files in a real browser', () => {
  let platform: PlatformUnderTest;
  let browser: Browser;
  /** A page of an app, at an origin of its own. */
  let host: Awaited<ReturnType<typeof serveForTest>>;
  /** Whom hostile files ask, and for what. */
  let stranger: Awaited<ReturnType<typeof serveForTest>>;
  const asked: (string | undefined)[] = [];
  beforeAll(async () => {
    host = await serveForTest((req, res) => {
      const [, bare] = /^\/bare\/(\d+)/.exec(req.url ?? '') ?? [];
      if (bare !== undefined) {
        res.setHeader('content-type', 'image/svg+xml');
        res.end(hostileSvgs[Number(bare)]?.[1].replaceAll(outside, stranger.url));
        return;
      }
      res.setHeader('content-type', 'text/html');
      res.end('<!doctype html><title>host</title><body style="margin:0">');
    });
    stranger = await serveForTest((req, res) => {
      asked.push(req.url);
      res.end();
    });
    browser = await launchChromium();
    platform = await platformUnderTest('in-process');
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
    await host?.stop();
    await stranger?.stop();
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

    // Embedded in a page of the very same origin, which has no policy of its own.
    const sameOrigin = `${platform.url}/page`;
    const body = '<!doctype html><title>host</title><body>';
    await page.route(sameOrigin, (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(sameOrigin);
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
    expect(await page.title()).toBe('host');
    expect(ran).toEqual([]);
    await context.close();
  });

  it.each(hostileSvgs)('run nothing and fetch nothing: an SVG with %s', async (_what, text) => {
    const url = await upload('a.svg', text.replaceAll(outside, stranger.url));
    const context = await browser.newContext({ viewport: { width: 100, height: 100 } });
    const ran: string[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/ran')) ran.push(request.url());
    });
    const page = await context.newPage();
    const answer = await page.goto(url);
    expect(answer?.headers()).toMatchObject({ 'content-type': 'image/svg+xml' });
    await page.mouse.click(20, 20);
    // What it began in its first moments has happened before this frame is drawn.
    await page.screenshot();
    expect(await page.title()).not.toBe('ran');
    expect(page.url()).toBe(url);

    await page.goto(`${host.url}/page?${encodeURIComponent(url)}`);
    await page.evaluate(`(async () => {
      const waits = ['img', 'iframe', 'embed', 'object'].map((tag) => {
        const element = document.createElement(tag);
        const settled = new Promise((resolve) => {
          element.onload = element.onerror = resolve;
          setTimeout(resolve, 500);
        });
        element[tag === 'object' ? 'data' : 'src'] = ${JSON.stringify(url)};
        document.body.append(element);
        return settled;
      });
      await Promise.all(waits);
    })()`);
    await page.mouse.click(20, 20);
    await page.screenshot();
    expect(await page.title()).toBe('host');
    expect(page.url()).toContain('/page');
    expect([...ran, ...asked]).toEqual([]);
    await context.close();
  });

  it('although they would elsewhere', async () => {
    const harmful = [
      'a script',
      'a script from outside',
      'a handler',
      'handlers of animations',
      'HTML with a script',
      'HTML with frames',
      'pictures from outside',
      'styles from outside',
      'a style sheet from outside',
    ];
    for (const what of harmful) {
      const page = await browser.newPage();
      let hasRun = false;
      page.on('request', (request) => {
        hasRun ||= request.url().endsWith('/ran');
      });
      const n = hostileSvgs.findIndex(([name]) => name === what);
      await page.goto(`${host.url}/bare/${n}`).catch(() => {});
      await until(() => hasRun || asked.length > 0, { what });
      await page.close();
      asked.length = 0;
    }
  });

  it('and an SVG is a picture in a page of another origin, with styles and pictures of its own', async () => {
    const inner = `data:image/png;base64,${png.toString('base64')}`;
    const url = await upload(
      'logo.svg',
      svgWith(
        `<style>.a { fill: rgb(1, 2, 3) }</style><rect class="a" width="40" height="20"/><image href="${inner}" y="20" width="40" height="20"/>`,
        '<?xml version="1.0"?><!-- drawn by hand -->',
      ),
    );
    const page = await browser.newPage();
    await page.goto(`${host.url}/page`);
    const seen = await page.evaluate(`(async () => {
      const image = Object.assign(new Image(), { crossOrigin: 'anonymous', src: ${JSON.stringify(url)} });
      await image.decode();
      const canvas = document.createElement('canvas').getContext('2d');
      canvas.drawImage(image, 0, 0);
      return [image.naturalWidth, ...canvas.getImageData(20, 10, 1, 1).data];
    })()`);
    expect(seen).toEqual([40, 1, 2, 3, 255]);

    await page.goto(url);
    const fill = await page.evaluate(`getComputedStyle(document.querySelector('.a')).fill`);
    expect(fill).toBe('rgb(1, 2, 3)');
    await page.close();
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
