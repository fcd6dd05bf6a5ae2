import { anonymous } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createStripeBed,
  eventText,
  type StripeBed,
  signature,
  webhookSecret,
  webhookSession,
} from '../testing/stripe-bed.ts';
import { otherProject } from '../testing/test-bed.ts';

const completed = 'checkout.session.completed';

describe('receiveWebhook takes nothing that the project’s secret has not signed', () => {
  let bed: StripeBed;
  let sessionId: string;
  let text: string;
  beforeAll(async () => {
    bed = await createStripeBed();
    sessionId = await bed.session();
    text = eventText({ type: completed, object: webhookSession(sessionId) });
  });
  afterAll(() => bed.close());
  const findStatus = async (id: string) => {
    const [row] = await bed.database.query<{ status: string }>(
      'SELECT status FROM payments WHERE session_id = $1',
      [id],
    );
    return row?.status;
  };
  const statuses = async () => (await bed.take('payment.changed')).map(({ status }) => status);
  const at = (seconds: number) => bed.clock.now() + seconds * 1000;

  it.each([
    ['no signature', () => ''],
    ['rubbish', () => 't=1,v1'],
    ['another scheme', () => signature(text, webhookSecret, at(0)).replace('v1=', 'v0=')],
    ['another secret', () => signature(text, 'whsec_other', at(0))],
    ['another body', () => signature(`${text} `, webhookSecret, at(0))],
    ['the same words in another order', () => signature(reordered(text), webhookSecret, at(0))],
    ['a signature of 302 seconds ago', () => signature(text, webhookSecret, at(-302))],
    ['a signature of 302 seconds ahead', () => signature(text, webhookSecret, at(302))],
    ['a signature of next year', () => signature(text, webhookSecret, at(31_536_000))],
    [
      'an old signature with a present time beside it',
      () => `t=${Math.floor(at(0) / 1000)},${signature(text, webhookSecret, at(-900))}`,
    ],
  ])('%s', async (_what, sign) => {
    expect(await bed.webhook(text, sign())).toMatchObject({
      status: 400,
      body: { code: 'invalid_signature' },
    });
    expect(await findStatus(sessionId)).toBe('open');
    expect(await statuses()).toEqual([]);
  });
  const reordered = (value: string) => JSON.stringify(JSON.parse(value), null, 1);

  it('another project’s secret', async () => {
    const identity = anonymous({ project: otherProject });
    expect(await bed.webhook(text, signature(text, webhookSecret, at(0)), identity)).toMatchObject({
      status: 400,
      body: { code: 'invalid_signature' },
    });
    expect(await findStatus(sessionId)).toBe('open');
  });

  it('but a signature that is 299 seconds old, among others', async () => {
    const good = signature(text, webhookSecret, at(-298));
    expect(await bed.webhook(text, `${good},v1=${'0'.repeat(64)}`)).toMatchObject({
      status: 200,
    });
    expect(await findStatus(sessionId)).toBe('paid');
    expect(await statuses()).toEqual(['paid']);
  });
});
