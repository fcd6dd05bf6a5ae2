import type { Mail } from '@backlot/contract';
import { asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('listEmails', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('ends a page early where mails are large, and leaves none out', async () => {
    const html = 'x'.repeat(256 * 1024);
    const subjects = Array.from({ length: 10 }, (_, n) => `mail ${n}`);
    for (const subject of subjects)
      expect((await bed.send({ to: 'ada@example.org', subject, html })).status).toBe(200);

    const pages: Mail[][] = [];
    let cursor = '';
    do {
      const path = `/platform/projects/${testProject.id}/emails?limit=1000${cursor}`;
      const { body } = await bed.call('GET', path, { identity: asOwner() });
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
