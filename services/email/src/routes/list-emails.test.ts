import type { Mail } from '@backlot/contract';
import { asOperator, asOwner, testProject } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('listEmails', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());
  const path = `/platform/projects/${testProject.id}/emails`;

  it('lists this project’s mails newest first, page by page', async () => {
    for (const subject of ['one', 'two', 'three']) {
      await bed.send({ to: 'ada@example.org', subject, html: 'x' });
      bed.clock.pass(5);
    }
    const first = await bed.call('GET', `${path}?limit=2`, { identity: asOwner() });
    expect(first.body).toMatchObject({
      hasMore: true,
      items: [{ subject: 'three' }, { subject: 'two' }],
    });
    const rest = await bed.call('GET', `${path}?cursor=${first.body.nextCursor}`, {
      identity: asOperator(),
    });
    expect(rest.body).toMatchObject({
      hasMore: false,
      nextCursor: null,
      items: [{ subject: 'one' }],
    });
    const other = asOwner({ project: { ...testProject, number: 7 } });
    expect((await bed.call('GET', path, { identity: other })).body.items).toEqual([]);
  });

  it('takes an address, a status and an order, page by page', async () => {
    const send = (subject: string, more: object) =>
      bed.send({ subject, html: 'x', ...more }, { identity: asOwner() });
    await send('to', { to: 'Ada@Example.org' });
    bed.clock.pass(5);
    await send('cc', { to: 'bob@example.org', cc: 'ada@example.org' });
    bed.clock.pass(5);
    await bed.service.deliver();
    await send('bcc', { to: 'bob@example.org', bcc: 'ada@example.org' });
    bed.clock.pass(5);
    await send('other', { to: 'bob@example.org' });
    const subjects = async (query: string) => (await bed.list(query)).map(({ subject }) => subject);
    expect(await subjects('?email=ADA@example.org')).toEqual(['bcc', 'cc', 'to']);
    expect(await subjects('?sort=createdAt')).toEqual(['to', 'cc', 'bcc', 'other']);
    expect(await subjects('?status=captured')).toEqual(['cc', 'to']);
    expect(await subjects('?status=queued&email=ada@example.org')).toEqual(['bcc']);
    expect(await subjects('?status=failed')).toEqual([]);
    const asked = `${path}?email=ada@example.org&sort=createdAt&limit=2`;
    const first = await bed.call('GET', asked, { identity: asOwner() });
    expect(first.body.items.map(({ subject }: Mail) => subject)).toEqual(['to', 'cc']);
    const next = await bed.call('GET', `${asked}&cursor=${first.body.nextCursor}`, {
      identity: asOwner(),
    });
    expect(next.body).toMatchObject({ hasMore: false, items: [{ subject: 'bcc' }] });
    for (const query of [
      `?cursor=${first.body.nextCursor}`,
      '?status=x',
      '?sort=subject',
      '?email=x',
    ])
      expect((await bed.call('GET', path + query, { identity: asOwner() })).status).toBe(400);
  });

  it('refuses a made-up cursor and strange limits', async () => {
    const cursor = Buffer.from(JSON.stringify(['mails', 5, 'no-uuid'])).toString('base64url');
    for (const query of [`cursor=${cursor}`, 'cursor=x', 'limit=-1', 'limit=x'])
      expect((await bed.call('GET', `${path}?${query}`, { identity: asOwner() })).status).toBe(400);
  });

  it('ends a page early where mails are large, and leaves none out', async () => {
    const html = 'x'.repeat(256 * 1024);
    const subjects = Array.from({ length: 10 }, (_, n) => `mail ${n}`);
    for (const subject of subjects)
      expect((await bed.send({ to: 'ada@example.org', subject, html })).status).toBe(200);

    const pages: Mail[][] = [];
    let cursor = '';
    do {
      const query = `?limit=1000${cursor}`;
      const { body } = await bed.call('GET', path + query, { identity: asOwner() });
      expect(body.hasMore).toBe(body.nextCursor !== null);
      pages.push(body.items);
      cursor = body.hasMore ? `&cursor=${body.nextCursor}` : '';
    } while (cursor !== '');
    expect(pages.map((page) => page.length)).toEqual([4, 4, 2]);
    const shown = pages.flat();
    expect(shown.map(({ subject }) => subject).sort()).toEqual(subjects);
    expect(shown.every((mail) => mail.html === html)).toBe(true);
  });
});
