import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from '../accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from '../console-under-test.ts';

const notice = 'No answer from the server yet';

describe('the console while answers are long in coming', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  /** Holds the first call of a method until it is let go. */
  const hold = async (page: Page, path: string, method: string) => {
    const held = Promise.withResolvers<void>();
    let count = 0;
    await page.route(path, async (route) => {
      if (route.request().method() !== method) return route.continue();
      count += 1;
      if (count === 1) await held.promise;
      await route.continue().catch(() => {});
    });
    return { letGo: held.resolve, count: () => count };
  };

  it('says so of a read, which can be asked for again', async () => {
    const { page, project } = await bed.openProject('/usage');
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    const reads = await hold(page, `**/projects/${project.id}/users?*`, 'GET');
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByText(notice).first().waitFor();
    await shoot(page, 'slow-read');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByRole('heading', { name: 'No users yet' }).waitFor();
    await page.getByText(notice).first().waitFor({ state: 'detached' });
    expect(reads.count()).toBe(2);
    reads.letGo();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('says so of a write, which happens once however often it is sent', async () => {
    const { page, project } = await bed.openProject('/groups');
    await page.getByRole('button', { name: 'Create group' }).first().click();
    await page.getByLabel('Name').fill('Bakery');
    const writes = await hold(page, '**/groups', 'POST');
    const send = page.getByRole('dialog').getByRole('button', { name: 'Create group' });
    await send.click();
    await page.getByText(notice).first().waitFor();
    expect(await send.isDisabled()).toBe(true);
    expect(await page.getByLabel('Name').inputValue()).toBe('Bakery');
    await shoot(page, 'slow-write');
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByRole('heading', { name: 'Bakery' }).waitFor();
    await page.getByText(notice).first().waitFor({ state: 'detached' });
    expect(writes.count()).toBe(2);
    writes.letGo();
    const { body } = await project.api('GET', '/groups', { token: project.owner.token });
    expect(body.items).toHaveLength(1);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
