import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessible.ts';
import { type ConsoleUnderTest, consoleUnderTest, shoot } from './console-under-test.ts';
import { signInAsOperator } from './sign-in-as-operator.ts';

const hostile = '<img src=x onerror=alert(1)>';

describe('the installation in the operator’s console', () => {
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

  it('gives a colleague a token of their own, with which they sign in until it is revoked', async () => {
    const page = await signIn('/operator/tokens');
    await page.getByText('No tokens yet').waitFor();
    await page.getByRole('button', { name: 'Create token' }).first().click();
    await page.getByLabel('Name').fill('ann');
    await page.getByRole('radio', { name: /^support/ }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
    const token = await page.getByText(/^bo_/).textContent();
    await shoot(page, 'operator-token-once');
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'ann' });
    await row.getByText('support').waitFor();
    await shoot(page, 'operator-tokens');
    await expectAccessible(page);
    const ann = await bed.open('/operator/owners');
    await ann.getByLabel('Operator token').fill(token ?? '');
    await ann.getByRole('button', { name: 'Sign in' }).click();
    await ann.getByRole('heading', { name: 'Owners' }).waitFor();
    await row.getByRole('button', { name: 'Revoke ann' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('No tokens yet').waitFor();
    await ann.reload();
    await ann
      .getByRole('heading', { name: /Sign in as the operator|The token holds no more/ })
      .waitFor();
    await ann.context().close();
    await close(page);
  });

  it('shows events that nobody could take, replays one and gives one up', async () => {
    const payload = { projectId: 'gone', projectNumber: 999_999_999 };
    const client = new pg.Client({ connectionString: bed.platform.databaseUrl });
    await client.connect();
    await client.query(
      `INSERT INTO email.parked_events (id, queue, topic, event_id, project, content, error, parked_at)
       SELECT gen_random_uuid(), 'backlot.email.project.erased', 'project.erased', 'event-' || n, 'gone',
              convert_to($1, 'UTF8'), 'The failure ' || n, now() FROM generate_series(1, 2) n`,
      [JSON.stringify(payload)],
    );
    await client.end();
    const page = await signIn('/operator/events');
    const rows = page.getByRole('row').filter({ has: page.getByRole('button') });
    const open = (error: string) =>
      rows.filter({ hasText: error }).getByRole('button', { name: 'project.erased' }).click();
    await shoot(page, 'operator-parked');
    await expectAccessible(page);
    await open('The failure 1');
    await page.getByText('999999999').waitFor();
    await shoot(page, 'operator-parked-event');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Replay' }).click();
    await rows.filter({ hasText: 'The failure 1' }).waitFor({ state: 'detached' });
    await open('The failure 2');
    await page.getByRole('button', { name: 'Drop…' }).click();
    await page.getByRole('button', { name: 'Drop event' }).click();
    await page.getByText('Nothing is parked').waitFor();
    await close(page);
  });

  it('shows which master keys are in use, what lies under each, and seals it again', async () => {
    const page = await signIn('/operator/keys');
    const rows = page.getByRole('region', { name: 'Master keys' }).getByRole('row');
    await page.getByText('Everything is sealed under the newest keys.').waitFor();
    await page.getByText('rotate-master add').waitFor();
    await rows.filter({ hasText: 'BACKLOT_AUTH_MASTER_KEY' }).getByText('auth 2').waitFor();
    expect(await rows.filter({ hasText: 'only opens' }).count()).toBe(0);
    await shoot(page, 'operator-keys');
    await expectAccessible(page);

    // As after a new key in front, and with one that is gone.
    const { body } = await bed.platform.control('GET', '/sealed-secrets', {
      token: bed.platform.operatorToken,
    });
    const [newest, older, gone] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)];
    const shown = (sealed: number, lost: number) => ({
      missing: [],
      services: body.services.map(({ service }: { service: string }) => {
        const setting = 'BACKLOT_SECRETS_KEYS';
        const ring = [
          { setting, keyId: newest, state: 'current', sealed: 3 - sealed },
          { setting, keyId: older, state: 'old', sealed },
        ];
        const stranger = { setting, keyId: gone, state: 'lost', sealed: lost };
        return service === 'payments'
          ? { service, old: sealed, lost, resealed: 3, keys: lost ? [...ring, stranger] : ring }
          : { service, old: 0, lost: 0, resealed: 0, keys: [] };
      }),
    });
    const answers = { counts: shown(3, 1), resealed: shown(0, 1) };
    await page.route('**/sealed-secrets', (route) => route.fulfill({ json: answers.counts }));
    await page.route('**/sealed-secrets/reseal', (route) => {
      answers.counts = answers.resealed;
      return route.fulfill({ json: answers.resealed });
    });
    await page.reload();
    await page.getByText('1 sealed value can not be opened.').waitFor();
    await rows.filter({ hasText: gone }).getByText('not in the ring').waitFor();
    await rows.filter({ hasText: older }).getByText('payments 3').waitFor();
    await shoot(page, 'operator-keys-old');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Seal again' }).click();
    await page.getByText('Sealed again: 3 sealed values').waitFor();
    await page.getByText('rotate-master drop').waitFor();
    await shoot(page, 'operator-keys-drop');
    await close(page);
  });

  it('shows the back-ups that are known, and warns once the last one is too old', async () => {
    const page = await signIn();
    await page.getByText('No back-up is known.').waitFor();
    await page.getByRole('link', { name: 'How to make one' }).click();
    await page.getByRole('heading', { name: 'No back-up is known' }).waitFor();
    await shoot(page, 'operator-backups-none');
    await expectAccessible(page);
    const hour = 3_600_000;
    const note = async (hoursAgo: number, rest: object) => {
      const beganAt = new Date(Date.now() - hoursAgo * hour).toISOString();
      const { status } = await bed.platform.control(
        'PUT',
        `/backups/${hoursAgo.toString(16).padStart(64, '0')}`,
        {
          token: bed.platform.operatorToken,
          body: {
            beganAt,
            endedAt: beganAt,
            release: '1.4.0',
            sizeBytes: 7_654_321_000,
            rows: 12_345_678,
            files: 4321,
            lostFiles: 0,
            place: `host-1:/backups/${hoursAgo}`,
            keyIds: ['7ee367b0cb6b076a', '95802beab992ae23'],
            ...rest,
          },
        },
      );
      expect(status).toBe(200);
    };
    await note(75, { isVerified: true });
    await note(51, { lostFiles: 2, place: `${hostile.repeat(4)}:/backups/51` });
    await page.reload();
    await page.getByText(/A new one was due/).waitFor();
    const rows = page.getByRole('region', { name: 'Back-ups' }).getByRole('row');
    await rows.filter({ hasText: 'verified' }).filter({ hasText: 'by bootstrap' }).waitFor();
    await rows.filter({ hasText: '2 lost' }).getByText('not verified').waitFor();
    await shoot(page, 'operator-backups');
    await expectAccessible(page);
    await rows.filter({ hasText: '2 lost' }).getByRole('button').click();
    await page.getByText('restore --dry-run --from /backups/51').waitFor();
    await shoot(page, 'operator-backup');
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.goto(`${bed.platform.url}/console/operator`);
    await page.getByText('Back-up is overdue').waitFor();
    await shoot(page, 'operator-backup-overdue');
    await expectAccessible(page);
    await note(1, {});
    await page.goto(`${bed.platform.url}/console/operator/backups`);
    await page.getByText(/The next one is due/).waitFor();
    await close(page);
  });
});
