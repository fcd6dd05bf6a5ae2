import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';
import { signInAsOperator } from './sign-in-as-operator.ts';

const hostile = '<img src=x onerror=alert(1)>';

describe('the operator’s console', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest();
  }, 300_000);
  afterAll(() => bed?.stop());

  const signIn = (path?: string) => signInAsOperator(bed, path);
  const close = async (page: Page) => {
    expect(bed.problems).toEqual([]);
    await page.context().close();
  };
  const spend = async (projectId: string, token: string, calls: number) => {
    const body = { messages: [{ role: 'user', content: 'Name a teapot.' }] };
    for (let n = 0; n < calls; n++)
      expect((await bed.platform.runtime(projectId)('POST', '/ai', { token, body })).status).toBe(
        200,
      );
    await until(async () => {
      const path = `/projects/${projectId}/usage?by=caller`;
      return (await bed.platform.control('GET', path, { token })).body.calls === calls;
    });
  };

  it('lets nobody in but the operator, and forgets the token with the tab', async () => {
    const { owner } = await bed.platform.newProject();
    const page = await bed.open('/operator/projects');
    await page.getByRole('heading', { name: 'Sign in as the operator' }).waitFor();
    await page.getByLabel('Operator token').fill(owner.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await shoot(page, 'operator-sign-in');
    await expectAccessible(page);
    await page.getByLabel('Operator token').fill(bed.platform.operatorToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('heading', { name: 'Sign in as the operator' }).waitFor();
    await page.getByRole('button', { name: 'Operator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in as the operator' }).waitFor();
    await close(page);
  });

  it('shows who spends most, whose limit is lowered, which the owner sees', async () => {
    const quiet = await bed.platform.newProject();
    const busy = await bed.platform.newProject();
    await bed.platform.control('PATCH', `/projects/${busy.id}`, {
      token: busy.owner.token,
      body: { name: hostile },
    });
    await spend(quiet.id, quiet.owner.token, 1);
    await spend(busy.id, busy.owner.token, 3);
    await busy.api('GET', '/db/none', {});
    const page = await signIn();
    await page.getByText('Everything that the platform needs works.').waitFor();
    const rows = page
      .getByRole('region', { name: 'Top spenders by project' })
      .getByRole('row')
      .filter({ has: page.getByRole('link') });
    await rows.filter({ hasText: busy.owner.email }).waitFor();
    await rows.filter({ hasText: quiet.owner.email }).waitFor();
    expect(await rows.first().textContent()).toContain(hostile);
    await shoot(page, 'operator');
    await expectAccessible(page);
    await rows.first().getByRole('link', { name: hostile }).click();
    await page.getByRole('heading', { name: hostile }).waitFor();
    await page.getByLabel('ai of one caller').fill('7');
    await page.getByRole('button', { name: 'Set limits' }).click();
    await page.getByText('The limits are set').waitFor();
    await page.getByRole('heading', { name: 'Top failures' }).waitFor();
    await shoot(page, 'operator-project');
    await expectAccessible(page);

    const owners = await bed.open(`/projects/${busy.id}/usage`, busy.owner);
    const limit = owners
      .getByRole('region', { name: 'Limits by class' })
      .getByRole('row')
      .filter({ hasText: /^ai/ });
    await limit.filter({ hasText: '7' }).waitFor();

    await page.getByRole('button', { name: 'Pause project…' }).click();
    await page.getByRole('button', { name: 'Pause project', exact: true }).click();
    await page.getByText('The project is paused').waitFor();
    await page.getByRole('button', { name: 'Resume project' }).click();
    await page.getByText('The project takes calls again').waitFor();
    await owners.context().close();
    await close(page);
  });

  it('shows who makes the load, what fails, and leads to the project', async () => {
    const loud = `${hostile} loud`;
    const busy = await bed.platform.newProject();
    await bed.platform.control('PATCH', `/projects/${busy.id}`, {
      token: busy.owner.token,
      body: { name: loud },
    });
    for (let n = 0; n < 30; n++)
      await busy.api('POST', '/db/notes', { token: 'wrong', body: { data: {} } });
    await busy.api('GET', '/db/none', {});
    const page = await signIn(`/operator/load?projectId=${busy.id}`);
    const line = (kind: string, name: string | RegExp) =>
      page
        .getByRole('region', { name: `Load by ${kind}` })
        .getByRole('row')
        .filter({ hasText: name });
    await until(async () => {
      await page.reload();
      // The page of before the calls were added up shows them no more.
      await line('project', loud).waitFor({ timeout: 5000 });
      return (await line('project', loud).getByText('30', { exact: true }).count()) > 0;
    });
    await page.getByRole('link', { name: 'Show all' }).click();
    await line('project', loud).waitFor();
    // In one line.
    expect((await page.getByRole('search').boundingBox())?.height).toBeLessThan(48);
    await shoot(page, 'operator-load');
    await expectAccessible(page);
    await page.getByLabel('Sorted by').selectOption('Failing calls');
    await page.getByRole('button', { name: 'Routes' }).click();
    await line('route', 'createRecord').waitFor();
    await shoot(page, 'operator-failures');
    await line('route', 'createRecord').getByRole('link').click();
    await line('project', loud).getByRole('link', { name: 'networks' }).click();
    await line('address', '127.0.0.0/24').waitFor();
    await page.getByRole('button', { name: 'Other…' }).click();
    await page.getByLabel('From').fill('2026-01-05T00:00');
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: '7 days' }).click();
    await line('address', '127.0.0.0/24').waitFor();
    await page.getByRole('button', { name: 'Projects' }).click();
    await line('project', loud).getByRole('link', { name: loud }).click();
    await page.getByRole('heading', { name: loud }).waitFor();
    await close(page);
  });

  it('suspends a project with a reason that its owner reads, and lifts it; both are in the log', async () => {
    const { id, owner } = await bed.platform.newProject();
    const page = await signIn(`/operator/projects/${id}`);
    await page.getByLabel('What').selectOption('mail');
    await page.getByLabel('Reason, which the owner reads').fill(`spam ${hostile}`);
    await page.getByRole('button', { name: 'Suspend…' }).click();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('It is suspended').waitFor();
    await page.getByText(`spam ${hostile}`).waitFor();
    await shoot(page, 'operator-suspended');
    await expectAccessible(page);
    const owners = await bed.open(`/projects/${id}/data`, owner);
    await owners.getByText(`has suspended mail in this project: spam ${hostile}`).waitFor();
    await shoot(owners, 'suspended-for-owner');
    await page.getByRole('button', { name: 'Lift' }).click();
    await page.getByText('The suspension is lifted').waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    const rows = page.getByRole('region', { name: 'Audit log' }).getByRole('row');
    await rows.filter({ hasText: 'liftProject' }).filter({ hasText: id }).waitFor();
    await page.getByLabel('Action').fill('suspendProject');
    await rows
      .filter({ hasText: id })
      .filter({ hasText: 'suspendProject' })
      .getByText('Before and after')
      .click();
    await shoot(page, 'operator-audit');
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.getByLabel('Action').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Filters (1)' }).click();
    await page.getByLabel('Action').waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await owners.goto(owners.url().replace(/\/projects.*/, '/audit'));
    await owners.getByText('suspendProject').waitFor();
    await shoot(owners, 'audit-log');
    await expectAccessible(owners);
    await owners.context().close();
    await close(page);
  });

  it('finds what strangers read, tells its owner once and stops it', async () => {
    const { id, owner, api } = await bed.platform.newProject();
    const name = `${hostile} open`;
    await bed.platform.control('PATCH', `/projects/${id}`, { token: owner.token, body: { name } });
    await api('POST', '/db/customers', { body: { data: { mail: 'ada@example.org' } } });
    await api('GET', '/db/customers', {});
    const page = await signIn('/operator/findings');
    const row = page.getByRole('row').filter({ hasText: name });
    await until(async () => {
      await page.reload();
      await row.waitFor({ timeout: 5000 });
      return true;
    });
    const finding = row.getByRole('button', { name: 'Strangers read personal data of customers' });
    await finding.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('e-mail addresses').waitFor();
    await shoot(page, 'operator-finding');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Send notice…' }).click();
    await page.getByRole('button', { name: 'Send notice', exact: true }).click();
    await page.getByText('The owner is told by mail').waitFor();
    await dialog.getByText('Owner told').waitFor();
    await dialog.getByRole('button', { name: 'Suspend everything…' }).click();
    await dialog.getByLabel('Reason, which the owner reads').fill('open to strangers');
    await dialog.getByRole('button', { name: 'Suspend…' }).click();
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('It is suspended').waitFor();
    await page.keyboard.press('Escape');
    await row.getByText('owner told').waitFor();
    await shoot(page, 'operator-findings');
    await expectAccessible(page);
    await finding.click();
    await dialog.getByRole('button', { name: 'Dismiss for 30 days' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Dismissed' }).click();
    await row.waitFor();
    await close(page);
  });

  it('finds an owner and grants credits', async () => {
    const { owner } = await bed.platform.newProject();
    const page = await signIn('/operator/owners');
    await page.getByLabel('Search by address or name').fill(owner.email);
    await until(
      async () => (await page.getByRole('link', { name: /@example\.org$/ }).count()) === 1,
    );
    await page.getByRole('link', { name: owner.email }).click();
    await page.getByRole('heading', { name: owner.email }).waitFor();
    await page.getByRole('spinbutton', { name: 'Credits' }).fill('250');
    await page.getByLabel('Reason', { exact: true }).fill(hostile);
    await page.getByRole('button', { name: 'Grant…' }).click();
    await page.getByRole('button', { name: 'Grant credits' }).click();
    await page.getByText('The credits are granted').waitFor();
    await page.getByRole('cell', { name: '250', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Reverse…' }).first().click();
    await page.getByLabel('Why').fill('The wrong owner');
    await shoot(page, 'operator-reverse');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Take back' }).click();
    await page.getByText('250 credits were taken back').waitFor();
    await page.getByRole('cell', { name: '-250', exact: true }).waitFor();
    await shoot(page, 'operator-owner');
    await expectAccessible(page);
    const { body } = await bed.platform.control('GET', '/credits', { token: owner.token });
    const grantLine = { kind: 'grant', amountMillicredits: 250_000, reason: hostile };
    expect(body.items[1]).toMatchObject(grantLine);
    expect(body.items[0]).toMatchObject({
      kind: 'correction',
      amountMillicredits: -250_000,
      reason: 'The wrong owner',
    });
    await page.goto(`${bed.platform.url}/console/operator/projects?q=shop`);
    await page.getByRole('region', { name: 'Projects' }).waitFor();
    await shoot(page, 'operator-projects');
    await expectAccessible(page);
    await close(page);
  });
});
