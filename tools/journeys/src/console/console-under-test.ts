import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { launchChromium } from '@backlot/testing/chromium';
import type { Api } from '@backlot/testing/platform-api';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Account, type PlatformUnderTest, platformUnderTest } from '../platform-under-test.ts';
import { showStill, showUsual } from './accessible.ts';

export interface OwnedProject {
  id: string;
  owner: Account;
  api: Api;
}

export interface ConsoleUnderTest {
  platform: PlatformUnderTest;
  browser: Browser;
  /** What scripts of its pages have thrown, and what the policy has refused: has to stay empty. */
  problems: string[];
  /** A page at a path of the console, such as `/projects`. @param owner signed in; nobody without it */
  open(
    path: string,
    owner?: Account,
    options?: Parameters<Browser['newContext']>[0],
  ): Promise<Page>;
  /** A page of a new owner's new project, at a path below it, such as `/data`. */
  openProject(path: string): Promise<{ page: Page; project: OwnedProject }>;
  stop(): Promise<void>;
}

/** On a machine that is busy with other tests. */
const timeoutMs = 60_000;

/** As the client of the platform project keeps it. */
const keepToken = (context: BrowserContext, url: string, { token }: Account) =>
  context.addInitScript(
    ([name, kept]) => {
      // Not again where a test has signed out.
      if (sessionStorage.getItem('kept')) return;
      sessionStorage.setItem('kept', 'yes');
      localStorage.setItem(String(name), String(kept));
    },
    [`backlot ${url}/api/runtime/platform`, token],
  );

/** A platform with its console, and a Chromium in front of it. */
export const consoleUnderTest = async (
  settings: Record<string, string> = {},
): Promise<ConsoleUnderTest> => {
  const browser = await launchChromium();
  const platform = await platformUnderTest('in-process', settings);
  // The first opening builds it.
  await fetch(`${platform.url}/console/`);
  const problems: string[] = [];
  const open: ConsoleUnderTest['open'] = async (path, owner, options) => {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      ...options,
    });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    if (owner) await keepToken(context, platform.url, owner);
    context.setDefaultTimeout(timeoutMs);
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) problems.push(message.text());
    });
    await page.goto(`${platform.url}/console${path}`);
    return page;
  };
  return {
    platform,
    browser,
    problems,
    open,
    async openProject(path) {
      const project = await platform.newProject();
      return { page: await open(`/projects/${project.id}${path}`, project.owner), project };
    },
    async stop() {
      // Of a test that failed: what it saw last.
      const left = browser.contexts().flatMap((context) => context.pages());
      for (const [index, page] of left.entries()) await shoot(page, `left-open-${index + 1}`);
      await browser.close();
      await platform.stop();
    },
  };
};

const widths = [1440, 1024, 390];
const themes = ['light', 'dark'] as const;

/** Screenshots in the folder that BACKLOT_SCREENSHOTS names, for people to look at; nothing without it. */
export const shoot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.BACKLOT_SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  const before = page.viewportSize();
  for (const colorScheme of themes) {
    await showStill(page, colorScheme);
    for (const width of widths) {
      await page.setViewportSize({ width, height: width < 500 ? 844 : 900 });
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
    }
  }
  await showUsual(page);
  if (before) await page.setViewportSize(before);
};
