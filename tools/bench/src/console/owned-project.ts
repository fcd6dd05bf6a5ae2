import type { launchChromium } from '@backlot/testing/chromium';

/** Of an owner with this token. */
export interface OwnedProject {
  origin: string;
  id: string;
  token: string;
}

export type Browser = Awaited<ReturnType<typeof launchChromium>>;

/** A page that has nothing in its cache, whose owner is signed in. */
export const openPage = async (browser: Browser, { origin, token }: OwnedProject) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const name = `backlot ${origin}/api/runtime/platform`;
  await context.addInitScript(`localStorage.setItem(${JSON.stringify(name)}, '${token}')`);
  context.setDefaultTimeout(120_000);
  return context.newPage();
};
