import { events } from '@backlot/contract';
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { showPayload } from './shown-payload.ts';

it('a parked event is shown without what opens something, and without addresses', () => {
  const shown = showPayload({
    projectId: 'shop',
    projectNumber: 7,
    to: 'ann@example.org',
    token: 'abc',
    code: '123456',
    link: 'https://example.org/verify#token=3kJh7Gd92ndkW0sdkf83Kdj2',
    key: `bk_${'a1'.repeat(21)}x`,
    operator: `bo_${'a1'.repeat(21)}x`,
    deep: [{ keyHash: 'x', sessionId: 's', at: '2026-11-28T03:32:00.140Z' }],
    none: null,
  });
  expect(shown).toEqual({
    projectId: 'shop',
    projectNumber: 7,
    to: '…',
    token: '…',
    code: '…',
    link: expect.not.stringContaining('3kJh7'),
    key: '…',
    operator: '…',
    deep: [{ keyHash: '…', sessionId: '…', at: '2026-11-28T03:32:00.140Z' }],
    none: null,
  });
});

it('no field of an event that is called a secret is shown', () => {
  const secrets = /"(\w*(?:token|secret|password|hash)\w*|code)":/gi;
  const named = new Set<string>();
  for (const schema of Object.values(events)) {
    const text = JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any' }));
    for (const [, name] of text.matchAll(secrets)) if (name) named.add(name);
  }
  expect([...named].length).toBeGreaterThan(3);
  const shown = showPayload(Object.fromEntries([...named].map((name) => [name, 'plain'])));
  expect(JSON.stringify(shown)).not.toContain('plain');
});
