import { testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

describe('answers in the form of a schema', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('come although projects of another owner keep sending schemas that use up their time', async () => {
    const caller = reserved(10_000);
    const other = { ...testProject, number: 1002, ownerId: '018f0000-0000-7000-8000-0000000000e1' };
    const hostile = { type: 'string', pattern: '^(a+)+$', const: `${'a'.repeat(50)}!` };
    const messages = [{ role: 'user', content: 'x' }];
    const refused: number[] = [];
    const attacks = [1, 2, 3, 4].map(async (n) => {
      const project = { ...other, id: `attacker${n % 2}` };
      const body = { messages, json: { ...hostile, title: `${n}` } };
      refused.push((await bed.ask(body, { identity: { ...caller, project } })).status);
    });
    const answer = await bed.ask({ messages, json: { type: 'object', properties: {} } });
    expect(answer.status).toBe(200);
    // It takes three pieces of work: the check, the demo's answer and its comparison with the schema.
    expect(refused.length).toBeLessThanOrEqual(3);
    await Promise.all(attacks);
    // Where the machine is busy their own time is over before their schemas are looked at.
    expect(refused.filter((status) => ![400, 503, 504].includes(status))).toEqual([]);
    expect(refused).toHaveLength(4);
  });

  it('show in the metrics what they cost', async () => {
    const messages = [{ role: 'user', content: 'x' }];
    await bed.ask({ messages, json: { type: 'object', properties: {} } });
    expect(await bed.registry.metrics()).toMatch(
      /backlot_queue_cost_seconds_total\{queue="schemas",lane="slow"\} [\d.e-]*[1-9]/,
    );
  });
});
