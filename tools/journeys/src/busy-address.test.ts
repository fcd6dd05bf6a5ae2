import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ConsoleUnderTest, consoleUnderTest } from './console/console-under-test.ts';

const password = 'a good long password';

describe('from an address that signs up much', () => {
  let bed: ConsoleUnderTest;
  beforeAll(async () => {
    bed = await consoleUnderTest({ BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR: '4' });
  }, 300_000);
  afterAll(() => bed?.stop());

  it('the front door does the proof of work by itself', async () => {
    const page = await bed.open('/../');
    // From the page, whose address is not that of this process where one of both speaks IPv6.
    for (const name of ['ada', 'bob'])
      await page.evaluate(
        (body) =>
          fetch('/api/runtime/platform/auth/signup', {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body,
          }).then(({ status }) => status),
        JSON.stringify({ email: `${name}@example.org`, password }),
      );
    const asked = page.waitForResponse((answer) => answer.status() === 428);
    await page.getByLabel('E-mail address').fill('busy@example.org');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Create your backend' }).click();
    await asked;
    await page.getByRole('button', { name: 'Create project' }).first().waitFor();
    expect(bed.problems).toEqual([]);
    await page.context().close();
  });
});
