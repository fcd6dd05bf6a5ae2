import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from '../console-under-test.ts';
import { hostileProject, script } from './hostile-project.ts';

/** What has run, leaves the page, or turns its letters round. */
const readHarm = `(() => {
  const harm = [];
  if (window.hasRun) harm.push('a script has run');
  if (document.querySelector('img[src="x"]')) harm.push('text became an element');
  const wide = [document.scrollingElement, ...document.querySelectorAll('main, [role="dialog"]')];
  for (const { tagName, className, scrollWidth, clientWidth } of wide)
    if (scrollWidth > clientWidth + 1)
      harm.push(tagName + ' ' + className + ' is ' + scrollWidth + ' wide, of ' + clientWidth);
  const turned = /[\\u202A-\\u202E\\u2066-\\u2069]/.exec(document.body.innerText);
  if (turned) harm.push('letters that turn others round: ' +
    document.body.innerText.slice(Math.max(0, turned.index - 80), turned.index + 20));
  return harm;
})()`;

describe('the console, whatever its users have written', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  const findHarm = async (page: Page, at: string) => {
    const found: string[] = [];
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const harm of await page.evaluate<string[]>(readHarm))
        found.push(`${at} at ${width} px: ${harm}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    return found;
  };

  it('runs nothing, turns nothing round, and keeps its layout at 1440 and 390 px', async () => {
    const { id, owner, userId, groupId } = await hostileProject(bed);
    const page = await bed.open('/', owner);
    const collection = `c${'W'.repeat(60)}`;
    const screens: readonly (readonly [string, open?: () => Promise<unknown>])[] = [
      ['data'],
      [`data/${collection}`],
      [`data/${collection}?panel=settings`],
      [`data/${collection}`, () => page.getByRole('button', { name: 'Open row 2' }).click()],
      [`data/wide`, () => page.getByRole('button', { name: 'Open row 1' }).click()],
      ['rules'],
      [`rules/${collection}`],
      ['rules/wide'],
      ['users'],
      [`users/${userId}`],
      ['groups'],
      [`groups/${groupId}`],
      ['files'],
      ['files', () => page.getByRole('button', { name: script }).first().click()],
      ['mail'],
      ['mail', () => page.getByRole('button', { name: script }).first().click()],
      ['mail/templates'],
      ['mail/templates/receipt'],
      ['payments'],
      ['payments', () => page.getByRole('button', { name: '$999,999.99' }).first().click()],
      ['payments/products'],
      ['ai'],
      ['ai/prompts'],
      ['webhooks'],
      [`webhooks/${'w'.repeat(60)}`],
      ['calls'],
      // What the screens before have asked for is newer, and may fill the first page.
      [
        'calls?method=POST&path=/db/wide',
        () => page.getByRole('button', { name: 'POST /db/wide' }).first().click(),
      ],
      ['usage'],
      ['exposure'],
      ['settings'],
      ['settings/keys'],
      ['settings/copies'],
    ];
    await page.getByRole('link', { name: script }).waitFor();
    const found = await findHarm(page, 'projects');
    for (const [screen, open] of screens) {
      await page.goto(`${bed.platform.url}/console/projects/${id}/${screen}`);
      const main = page.getByRole('main');
      await main.getByRole('heading', { level: 1 }).waitFor();
      await main.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      await open?.();
      if (open) await page.locator('[role="dialog"], aside, .call-details').first().waitFor();
      await shoot(
        page,
        `hostile-${screen.replace(/\W+/g, '-').slice(0, 30)}${open ? '-open' : ''}`,
      );
      found.push(...(await findHarm(page, screen + (open ? ', opened' : ''))));
      expect(await page.title()).toMatch(/ · Backlot$/);
    }
    expect(found).toEqual([]);
    const others = bed.problems.filter((problem) => !/inline (style|event)/.test(problem));
    expect(others).toEqual([]);
    await page.context().close();
  });
});
