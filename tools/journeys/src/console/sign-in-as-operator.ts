import type { Page } from 'playwright-core';
import type { ConsoleUnderTest } from './console-under-test.ts';

/** The operator's part of the console, signed in with the token of the configuration. */
export const signInAsOperator = async (
  { open, platform }: ConsoleUnderTest,
  path = '/operator',
): Promise<Page> => {
  const page = await open(path);
  await page.getByLabel('Operator token').fill(platform.operatorToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  return page;
};
