import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const maxFirstLoadBytes = 200 * 1024;

describe('the console', () => {
  let bed: TestBed;
  let page: string;
  let links: string[];
  beforeAll(async () => {
    bed = await createTestBed({});
    page = (await bed.call('GET', '/console/')).body;
    links = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, link]) => link ?? '');
  }, 120_000);
  afterAll(() => bed.close());

  it('is one page at each of its addresses, with scripts and styles from here alone', async () => {
    for (const path of ['/console', '/console/projects/demo/data', '/console/%00/../x']) {
      const { status, headers, body } = await bed.call('GET', path);
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'no-cache']);
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).not.toMatch(/unsafe|https?:/);
      expect(body).toBe(page);
    }
    expect(page).not.toMatch(/<style|<script>|style=|\son\w+=|https?:/);
  });

  it('has files that browsers keep for good, compressed as they take it', async () => {
    const assets = links.filter((link) => link.includes('/assets/'));
    expect(assets.length).toBeGreaterThan(2);
    for (const link of assets) {
      const plain = await bed.call('GET', link, { headers: { 'accept-encoding': 'identity' } });
      expect([link, plain.status, plain.headers.get('cache-control')]).toEqual([
        link,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(plain.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/);
      expect(plain.headers.get('vary')).toContain('Accept-Encoding');
      const packed = await fetch(bed.url + link, { headers: { 'accept-encoding': 'br' } });
      expect([link, packed.headers.get('content-encoding')]).toEqual([link, 'br']);
    }
  });

  it('is no more than 200 KB gzipped until a screen is open', async () => {
    const first = [...new Set(links)].map(
      async (link) =>
        gzipSync((await bed.call('GET', link, { headers: { 'accept-encoding': 'identity' } })).body)
          .length,
    );
    const bytes = (await Promise.all(first)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(maxFirstLoadBytes);
  });

  it('answers 404 for files that it does not have, or no more, and shows nothing beside itself', async () => {
    for (const path of [
      '/console/assets/index-00000000.js',
      '/console/assets/..%2f..%2f..%2fpackage.json',
    ])
      expect([path, (await bed.call('GET', path)).status]).toEqual([path, 404]);
    for (const path of ['/console/..%2f..%2fpackage.json', '/console/build/main.ts'])
      expect((await bed.call('GET', path)).body).toBe(page);
    expect((await bed.call('POST', '/console/')).status).toBe(404);
  });
});
