import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from '../console-under-test.ts';
import { screens } from './screens.ts';

const refusal = 'Something went wrong on our side.';
const failure = { status: 500, json: { error: refusal, code: 'internal' } };

describe('the console while reads fail', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  /** Every read but those that a pattern names. */
  const failReads = (page: Page, but?: RegExp) =>
    page.route('**/api/**', (route) => {
      const request = route.request();
      const isFailing = request.method() === 'GET' && !but?.test(request.url());
      return isFailing ? route.fulfill(failure) : route.continue();
    });
  const tryAllAgain = async (page: Page) => {
    const main = page.getByRole('main');
    const again = main.getByRole('button', { name: 'Try again' }).first();
    await until(
      async () => {
        if (await again.isVisible()) await again.click();
        return (await main.getByText(refusal).count()) === 0;
      },
      { what: `${page.url()} shows what it has` },
    );
    await main.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
  };

  it('says so on every screen, and shows what it has once it was tried again', async () => {
    const { page, project } = await bed.openProject('/data');
    const body = { data: { n: 1 } };
    await project.api('POST', '/db/orders', { token: project.owner.token, body });
    const frame = /\/(auth\/me|api\/platform\/projects\/[a-z0-9]+)$/;
    for (const screen of screens) {
      await failReads(page, frame);
      await page.goto(`${bed.platform.url}/console/projects/${project.id}/${screen}`);
      const main = page.getByRole('main');
      await main.getByRole('alert').filter({ hasText: refusal }).first().waitFor();
      await main.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      if (screen === 'usage') await shoot(page, 'reads-fail');
      await page.unroute('**/api/**');
      await tryAllAgain(page);
    }
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('has nothing that fails on any screen of a project as it is', async () => {
    const { page, project } = await bed.openProject('/data');
    const body = { data: { n: 1 } };
    await project.api('POST', '/db/orders', { token: project.owner.token, body });
    const failed: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
    });
    for (const screen of [...screens, 'settings']) {
      await page.goto(`${bed.platform.url}/console/projects/${project.id}/${screen}`);
      const main = page.getByRole('main');
      await main.getByRole('heading').first().waitFor();
      await main.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
    }
    expect(failed).toEqual([]);
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('says so before the first screen, and on the list of projects', async () => {
    const { owner } = await bed.platform.newProject();
    const page = await bed.open('/');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await failReads(page, /^$/);
    await page.evaluate(
      ([name, token]) => localStorage.setItem(String(name), String(token)),
      [`backlot ${bed.platform.url}/api/runtime/platform`, owner.token],
    );
    await page.goto(`${bed.platform.url}/console/`);
    await page.getByRole('heading', { name: 'Your session could not be checked' }).waitFor();
    await shoot(page, 'session-unknown');
    await page.unroute('**/api/**');
    await failReads(page, /auth\/me$/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    await page.getByRole('alert').filter({ hasText: refusal }).waitFor();
    await page.unroute('**/api/**');
    await tryAllAgain(page);
    await page.getByRole('link', { name: 'Shop' }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });

  it('keeps a screen, and what was typed into it, while what it showed can not be read anew', async () => {
    const { page, project } = await bed.openProject('/settings');
    const row = (label: string) => page.locator('form').filter({ has: page.getByLabel(label) });
    await row('Who may sign up')
      .getByRole('combobox')
      .selectOption('Who has an address of these domains');
    const kept = row('Who may sign up').getByRole('textbox');
    await kept.fill('example.org');
    await row('Verified addresses only').getByRole('combobox').selectOption('Yes');
    await page.route('**/api/**', (route) => route.fulfill(failure));
    await row('Verified addresses only').getByRole('button', { name: 'Save' }).click();
    await row('Verified addresses only').getByRole('alert').waitFor();
    expect(await kept.inputValue()).toBe('example.org');
    await page.unroute('**/api/**');
    await row('Verified addresses only').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Verified addresses only: saved').first().waitFor();
    expect(await kept.inputValue()).toBe('example.org');

    // And a record that is being written, while its collection can't.
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/data/orders?record=new`);
    await page.getByRole('textbox', { name: 'Name of a field to add' }).fill('title');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'title' }).fill('Not to be lost');
    await page.route('**/api/**', (route) => route.fulfill(failure));
    await page.getByRole('button', { name: 'Create record' }).click();
    await page.getByRole('alert').filter({ hasText: refusal }).waitFor();
    expect(await page.getByRole('textbox', { name: 'title' }).inputValue()).toBe('Not to be lost');
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Create record' }).click();
    await page.getByRole('gridcell', { name: 'Not to be lost' }).waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
