import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const readAxe = () =>
  readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Transition {
  constructor: { name: string };
  finish(): void;
}
declare const window: { axe: typeof axe };
declare const document: axe.ElementContext & { getAnimations(): Transition[] };

/** To a scheme without motion, so that no colour is on its way there, nor from where the page was before. */
export const showStill = async (page: Page, colorScheme: 'light' | 'dark'): Promise<void> => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(() => {
    for (const animation of document.getAnimations())
      if (animation.constructor.name === 'CSSTransition') animation.finish();
  });
};

/** Back to what the browser has, the scheme first: with motion its colours would be on their way. */
export const showUsual = async (page: Page): Promise<void> => {
  await page.emulateMedia({ colorScheme: null, reducedMotion: 'reduce' });
  await page.evaluate(() => document.getAnimations().length);
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
};

/** What axe-core finds by colours; all else is the same in light and in dark. */
const colourRules = ['color-contrast', 'link-in-text-block'];

const isLong = process.env.BACKLOT_LONG_TESTS !== undefined;

/** Fails with what axe-core finds in the page as it is now, in light and in dark. */
export const expectAccessible = async (page: Page): Promise<void> => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await showStill(page, colorScheme);
    // Past the page's policy, which lets no script in.
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await readAxe());
    const runOnly: axe.RunOnly =
      colorScheme === 'light' || isLong
        ? { type: 'tag', values: rules }
        : { type: 'rule', values: colourRules };
    const { violations } = await page.evaluate((options) => window.axe.run(document, options), {
      runOnly,
    });
    const found = violations.map(({ id, help, nodes }) => ({
      colorScheme,
      id,
      help,
      at: nodes.map(({ target, failureSummary }) => `${target}: ${failureSummary}`),
    }));
    expect(found).toEqual([]);
  }
  await showUsual(page);
};
