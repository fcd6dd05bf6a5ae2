import { emailRoutes, paymentRoutes, type RouteDefinition, recordRoutes } from '@backlot/contract';
import { expect, it } from '@jest/globals';
import { findRoundedNumber, roundedNumberRefusal } from './exact-numbers.ts';

it('refuses whole numbers that a double rounds, and only them', () => {
  const rounded = (json: string) => findRoundedNumber(json) ?? 'accepted';
  expect(rounded('{"data":{"a":9007199254740993}}')).toContain('9007199254740993');
  expect(rounded('{"data":{"a":[-12345678901234567890]}}')).toContain('-12345678901234567890');
  for (const length of [400, 8_000_000])
    expect(rounded(`{"data":{"a":${'9'.repeat(length)}}}`)).toContain('999');
  expect(rounded(`{"data":{"a":0.${'9'.repeat(400)}}}`)).toBe('accepted');
  expect(rounded('{"data":{"a":9007199254740992,"b":100000000000000000000}}')).toBe('accepted');
  expect(rounded('{"data":{"a":"9007199254740993","b":"\\"9007199254740993"}}')).toBe('accepted');
  expect(rounded('{"a":[12,"\\\\",-9007199254740993]}')).toContain('-9007199254740993');
  expect(rounded('{"data":{"a":0.12345678901234567890,"b":1e300}}')).toBe('accepted');
  expect(rounded(`{"data":{"a":"${'\\"1'.repeat(3_000_000)}","b":1234567890123456}}`)).toBe(
    'accepted',
  );
});

it.each<[RouteDefinition, string]>([
  [recordRoutes.createRecord, 'invalid_data'],
  [paymentRoutes.createCheckout, 'invalid_body'],
  [emailRoutes.sendEmail, 'invalid_body'],
])('names the number that $operationId would not keep', (definition, code) => {
  expect(roundedNumberRefusal(definition, '{"n":123456789012345678}')).toMatchObject({
    code,
    message: expect.stringContaining('123456789012345678'),
  });
  expect(roundedNumberRefusal(definition, '{"n":"123456789012345678"}')).toBeUndefined();
});
