import { randomUUID } from 'node:crypto';
import { findingKinds } from '@backlot/contract';
import { testProject } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMailCalls, createMailingBed } from '../testing/platform-mails.ts';
import { type FakeMailer, ownerAddress, type TestBed } from '../testing/test-bed.ts';

describe('the platform’s own mails', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    ({ bed, mailer } = await createMailingBed());
  });
  afterEach(() => bed.close());

  const { sent, tell } = createMailCalls(() => ({ bed, mailer }));

  it('tell an owner what is left of the month', async () => {
    const ownerId = testProject.ownerId;
    for (const [percent, balanceMillicredits] of [
      [80, 200_500],
      [95, 50_000],
      [100, -10],
    ] as const)
      await tell('credits.low', { ownerId, percent, balanceMillicredits });
    await sent(3);
    const said = mailer.sent.map(({ subject, text }) => `${subject}: ${text}`).sort();
    expect(said[0]).toMatch(/^80 % of your credits .*Hello Olga.* 200 are left/s);
    expect(said[1]).toMatch(/^95 % .* 50 are left/s);
    expect(said[2]).toMatch(/^Your credits of this month are used up.* 0 are left/s);
    expect(
      mailer.sent.every(({ to, projectId }) => to[0] === ownerAddress && projectId === 'platform'),
    ).toBe(true);
    // Nobody to tell.
    await tell('credits.low', { ownerId: randomUUID(), percent: 80, balanceMillicredits: 1 });
    await sent(3);
  });

  it('tell an owner who met a budget, where, and which settings to change', async () => {
    const { id: projectId, number: projectNumber, ownerId } = testProject;
    const budget = { projectId, projectNumber, ownerId, projectName: '<i>Shop</i>' };
    const met = { ...budget, address: '2001:db8::/64', route: 'POST /ai' };
    const once = randomUUID();
    for (let n = 0; n < 2; n++) await tell('budget.reached', { ...met, kind: 'visitors' }, once);
    const mail = await sent();
    expect(mail).toMatchObject({ to: [ownerAddress], projectId: 'platform' });
    for (const said of ['Olga', '<i>Shop</i>', '2001:db8::/64', 'POST /ai', '"callers"'])
      expect(mail.text).toContain(said);
    expect(mail.text).toContain('"visitorCreditsPerDay"');
    expect(mail.html).not.toContain('<i>');
    await tell('budget.reached', { ...met, kind: 'project' });
    expect((await sent(2)).text).toContain('"creditsPerMonth"');
  });

  it('tell an owner who has deleted many records, and which call brings them back', async () => {
    const { id: projectId, number: projectNumber, ownerId } = testProject;
    const deleted = { projectId, projectNumber, ownerId, projectName: '<i>Shop</i>', count: 150 };
    const by = { actor: `key:${randomUUID()}`, since: '2026-11-27T14:05:00.000Z' };
    await tell('records.deleted', { ...deleted, ...by }, randomUUID());
    const mail = await sent();
    expect(mail).toMatchObject({ to: [ownerAddress], projectId: 'platform' });
    const call = `POST /api/platform/projects/${projectId}/undo {"since": "${by.since}", "actor": "${by.actor}"`;
    for (const said of ['Olga', '<i>Shop</i>', '150 records', call])
      expect(mail.text).toContain(said);
    expect(mail.html).not.toContain('<i>');
    const collection = { collection: 'orders', keptUntil: '2026-12-04T14:05:00.000Z' };
    await tell('records.deleted', { ...deleted, ...by, ...collection }, randomUUID());
    const { text } = await sent(2);
    expect(text).toContain(`POST /api/platform/projects/${projectId}/collections/orders/restore`);
    expect(text).toContain(collection.keptUntil);
    await tell('records.deleted', { ...deleted, ...by, collection: 'logs' }, randomUUID());
    expect((await sent(3)).text).toContain('No undo brings these back');
  });

  it('tell an owner once that a webhook is off, and how to switch it on', async () => {
    const { id: projectId, number: projectNumber, ownerId } = testProject;
    const stopped = { projectId, projectNumber, ownerId, projectName: '<i>Shop</i>' };
    const webhook = { webhook: 'main', host: 'shop.example', reason: 'it answered 500' };
    const once = randomUUID();
    for (let n = 0; n < 2; n++) await tell('webhook.stopped', { ...stopped, ...webhook }, once);
    const mail = await sent();
    expect(mail).toMatchObject({ to: [ownerAddress], projectId: 'platform' });
    for (const said of ['Olga', '"main"', 'shop.example', 'it answered 500', '/webhooks/main'])
      expect(mail.text).toContain(said);
    expect(mail.html).not.toContain('<i>');
  });

  it('tell an owner once of what was found in a project, and what to do', async () => {
    const found = {
      projectId: 'shop',
      projectNumber: 9,
      projectName: 'My <i>shop</i>',
      ownerId: testProject.ownerId,
      kind: 'exposure' as const,
      subject: 'contacts',
      signs: ['email', 'card'],
      calls: 12,
      since: '2026-11-28T06:00:00.000Z',
    };
    const once = randomUUID();
    for (let n = 0; n < 2; n++) await tell('finding.told', found, once);
    const mail = await sent();
    expect(mail).toMatchObject({
      to: [ownerAddress],
      projectId: 'platform',
      subject: 'Strangers read personal data in My <i>shop</i>',
    });
    for (const said of ['Olga', '(shop)', '"contacts"', 'email, card', '/projects/shop/exposure'])
      expect(mail.text).toContain(said);
    expect(mail.html).not.toContain('<i>');
    for (const [index, kind] of findingKinds.entries()) {
      await tell('finding.told', { ...found, kind });
      expect((await sent(index + 2)).text).toContain('asks you to look at your project');
    }
  });
});
