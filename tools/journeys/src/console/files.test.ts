import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

/** 8 by 8, red. */
const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="red"/></svg>',
);
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const hostileName = '<img src=x onerror=alert(1)>\u202Egnp.exe.txt';

const add = (page: Page, name: string, mimeType: string, buffer: Buffer) =>
  page.getByLabel('Files to upload').setInputFiles({ name, mimeType, buffer });

/** Whether the browser has drawn the picture inside of a row. */
const isDrawn = (page: Page, name: string) =>
  page
    .getByRole('row')
    .filter({ hasText: name })
    .locator('img')
    .evaluate(
      (image: { complete: boolean; naturalWidth: number }) =>
        image.complete && image.naturalWidth > 0,
    );

describe('the console: files', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  it('uploads, shows pictures of public and private ones, previews and deletes', async () => {
    const { page } = await bed.openProject('/files');
    await page.getByRole('heading', { name: 'No files yet' }).waitFor();
    await shoot(page, 'files-empty');
    await expectAccessible(page);
    await add(page, 'private.png', 'image/png', png);
    await page.getByRole('button', { name: 'private.png' }).waitFor();
    await page.getByLabel('Who may open them').selectOption('Public');
    await add(page, 'public.svg', 'image/svg+xml', svg);
    await page.getByRole('button', { name: 'public.svg' }).waitFor();
    await add(page, hostileName, 'text/plain', Buffer.from('<script>alert(1)</script>'));
    await page.getByRole('button', { name: 'onerror' }).waitFor();
    for (const name of ['private.png', 'public.svg'])
      await until(() => isDrawn(page, name), { what: `${name} is drawn` });
    await page.getByText('3 files').waitFor();
    await shoot(page, 'files');
    await expectAccessible(page);

    await page.getByRole('button', { name: 'onerror' }).click();
    await page.getByText('<script>alert(1)</script>').waitFor();
    await expectAccessible(page);
    await shoot(page, 'file-preview');
    await page.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'private.png' }).click();
    await page.getByRole('dialog').getByRole('img', { name: 'private.png' }).waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete 1 file' }).click();
    await page.getByRole('button', { name: 'private.png' }).waitFor({ state: 'detached' });
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
