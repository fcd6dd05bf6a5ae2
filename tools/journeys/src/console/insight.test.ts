import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';

const hostile = '<img src=x onerror=alert(1)>';
const turned = '\u202Eevil\u202C';

describe('what an owner sees of calls, credits and readers', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  const readClipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');
  const close = async (page: Page) => {
    expect(bed.problems).toEqual([]);
    await page.context().close();
  };

  it('shows a failing call as it happens, with what helps to mend it', async () => {
    const { page, project } = await bed.openProject('/calls');
    const api = bed.platform.runtime(project.id);
    await page.getByText('No calls yet').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await shoot(page, 'calls-empty');

    for (let n = 0; n < 3; n++)
      await api('POST', '/db/notes', { body: { data: { text: `Note ${n}` } } });
    await api('GET', '/db/notes', { token: project.owner.token });
    const body = { title: 'Private words', [hostile]: 1, [turned]: 2 };
    const { body: failure } = await api('POST', '/db/notes', { body });
    await api('GET', `/db/notes/${encodeURIComponent(hostile)}`, {});
    const row = page.getByRole('row').filter({ hasText: failure.error });
    await row.waitFor();
    await page.getByRole('button', { name: 'GET /db/notes', exact: true }).waitFor();

    await row.getByRole('button').click();
    const details = page.getByRole('region', { name: 'POST /db/notes' });
    await details.getByText('title', { exact: true }).waitFor();
    await details.getByText(hostile).waitFor();
    await shoot(page, 'calls');
    await expectAccessible(page);
    await details.getByRole('button', { name: 'Copy for my coding agent' }).click();
    await details.getByText('Copied').waitFor();
    const told = await readClipboard(page);
    expect(told).toContain(`/api/runtime/${project.id}/db/notes`);
    expect(told).toContain(failure.error);
    expect(told).toContain('/docs/api/createRecord');
    expect(told).not.toContain('Private words');
    await details.getByRole('button', { name: 'Copy as fetch' }).click();
    await until(async () => (await readClipboard(page)).startsWith('const response'));
    const again = await readClipboard(page);

    await page.getByLabel('Status').selectOption({ label: 'Failing' });
    await page
      .getByRole('button', { name: 'GET /db/notes', exact: true })
      .waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Pause' }).click();
    const { body: later } = await api('PATCH', '/db/notes', {});
    await page.getByRole('button', { name: 'Show 1 call that came meanwhile' }).click();
    await page.getByRole('row').filter({ hasText: later.error }).waitFor();
    const answered = page.waitForEvent('console', (message) => message.text().startsWith('400'));
    await page.evaluate(`(async () => { ${again} })()`);
    expect((await answered).text()).toContain(failure.code);

    // What owners do themselves fills a page of the log, of which nothing is shown.
    const { token } = project.owner;
    for (let n = 0; n < 110; n++)
      await bed.platform.control('GET', `/projects/${project.id}`, { token });
    await page.goto(`${bed.platform.url}/console/projects/${project.id}/calls`);
    await page.getByRole('button', { name: 'GET /db/notes', exact: true }).waitFor();
    await close(page);
  });

  it('shows what is spent, by whom, and caps it', async () => {
    const { page, project } = await bed.openProject('/usage');
    await page.getByText('Nothing spent in this time').waitFor();
    await shoot(page, 'usage-empty');
    await expectAccessible(page);
    const api = bed.platform.runtime(project.id);
    const ask = { messages: [{ role: 'user', content: 'Name a teapot.' }] };
    const { token } = project.owner;
    for (let n = 0; n < 3; n++) expect((await api('POST', '/ai', { body: ask })).status).toBe(200);
    await api('POST', '/ai', { body: ask, token });
    const user = await bed.platform.signUp(project.id);
    await api('POST', '/ai', { body: ask, token: user.token });
    await until(async () => {
      const path = `/projects/${project.id}/usage?by=caller`;
      return (await bed.platform.control('GET', path, { token })).body.calls === 5;
    });
    await page.reload();
    await page.getByText('visitors, not signed in').waitFor();
    await page
      .getByRole('region', { name: 'Credits by caller' })
      .getByRole('link', { name: user.email })
      .waitFor();
    await page.getByRole('button', { name: 'generateText' }).click();
    await page.getByRole('heading', { name: 'generateText, tokens by day' }).waitFor();
    await page.getByLabel('Credits a day').fill('50');
    await page.getByRole('button', { name: 'Save caps' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await page.getByLabel('Credits a day').inputValue()) === '');
    await page.getByLabel('Credits a day').fill('70');
    await page.getByRole('button', { name: 'Save caps' }).click();
    await until(async () => {
      const { body } = await bed.platform.control('GET', `/projects/${project.id}`, { token });
      return body.settings.creditsPerDay === 70;
    });
    await page.getByText('Today 5 of 70 credits are spent.').waitFor();
    await page.getByLabel('Credits a day').fill('5');
    await page.getByRole('button', { name: 'Save caps' }).click();
    await page.getByText('Today 5 of 5 credits are spent: priced calls are refused').waitFor();
    await until(async () => (await api('POST', '/ai', { body: ask, token })).status === 402);
    await page.getByRole('heading', { name: 'Caps' }).scrollIntoViewIfNeeded();
    await shoot(page, 'usage');
    await expectAccessible(page);
    await close(page);
  });

  it('reports what strangers read, sets a stricter rule by one click and undoes it', async () => {
    const { page, project } = await bed.openProject('/exposure');
    await page.getByText('No collections yet').waitFor();
    const api = bed.platform.runtime(project.id);
    const data = { mail: 'ada@example.org', [hostile]: 'x', price: 12.5 };
    await api('POST', '/db/customers', { body: { data } });
    for (let n = 0; n < 3; n++) await api('GET', '/db/customers', {});
    const look = page.getByRole('button', { name: 'Look again' });
    await until(async () => {
      await look.click();
      return page.getByText('3 reads of the last day would have been refused').first().isVisible();
    });
    await page.getByText('Strangers can read what looks personal in 1 collection.').waitFor();
    await shoot(page, 'exposure');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Let only users read…' }).click();
    await page.getByRole('dialog').getByText('3 reads of the last day').waitFor();
    await shoot(page, 'exposure-question');
    await page.getByRole('button', { name: 'Let only users read', exact: true }).click();
    const said = page.getByRole('dialog').filter({ hasText: 'customers has stricter rules' });
    await said.waitFor();
    expect((await api('GET', '/db/customers', {})).status).toBe(401);
    await said.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('customers has its rules from before again').waitFor();
    await said.waitFor({ state: 'detached' });
    expect((await api('GET', '/db/customers', {})).status).toBe(200);
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await close(page);
  });
});
