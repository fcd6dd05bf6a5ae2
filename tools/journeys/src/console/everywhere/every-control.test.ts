import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type ConsoleUnderTest, consoleUnderTest } from '../console-under-test.ts';
import { hostileProject } from './hostile-project.ts';
import { screens } from './screens.ts';

const watchFocus = `window.reached = new Set([document.activeElement]);
  document.addEventListener('focusin', ({ target }) => reached.add(target));`;

/** Of what is seen and can be used: how much there is, and what Tab has not led to. Arrows lead to the rest of a group. */
const readControls = `(() => {
  const all = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  const controls = [...document.querySelectorAll(all)].filter((one) =>
    one.tabIndex >= 0 && !one.matches(':disabled, [aria-hidden="true"], [type="radio"]:not(:checked)') &&
    !one.closest('[inert], [aria-hidden="true"]') && one.checkVisibility({ visibilityProperty: true }) &&
    one.getBoundingClientRect().width > 0);
  const missed = controls.filter((one) => !reached.has(one)).map((one) =>
    one.tagName + ' ' + (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40));
  return { count: controls.length, missed };
})()`;

interface Controls {
  count: number;
  missed: string[];
}

const mostPresses = 600;

describe('the console by Tab alone', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  const findMissed = async (page: Page): Promise<string[]> => {
    await page.evaluate(watchFocus);
    for (let presses = 0; presses < mostPresses; ) {
      const { count, missed } = await page.evaluate<Controls>(readControls);
      if (missed.length === 0 && count > 0) return [];
      // Once round, with what comes before the page.
      for (let n = 0; n < count + 10; n++, presses++) await page.keyboard.press('Tab');
    }
    return (await page.evaluate<Controls>(readControls)).missed;
  };

  it.each([1440, 390])('reaches every control of every screen at %i px', async (width) => {
    const { id, owner, userId, groupId } = await hostileProject(bed);
    const own = [`users/${userId}`, `groups/${groupId}`, 'mail/templates/receipt', 'settings'];
    await bed.platform.runtime(id)('POST', '/db/orders', {
      token: owner.token,
      body: { data: { n: 1 } },
    });
    const page = await bed.open('/', owner, { viewport: { width, height: 900 } });
    const missed: string[] = [];
    for (const screen of [...screens, ...own]) {
      await page.goto(`${bed.platform.url}/console/projects/${id}/${screen}`);
      const main = page.getByRole('main');
      await main.getByRole('heading', { level: 1 }).waitFor();
      await main.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      for (const control of await findMissed(page)) missed.push(`${screen}: ${control}`);
    }
    expect(missed).toEqual([]);
    await page.context().close();
  });
});
