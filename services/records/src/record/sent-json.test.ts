import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkData } from './data.ts';
import { sentJson } from './sent-json.ts';

const start = '{"data":';

describe('the JSON of data as it was sent', () => {
  it('is what JSON.stringify makes of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, behind) => {
        const parsed = JSON.parse(JSON.stringify(value));
        const json = JSON.stringify(parsed);
        expect(sentJson(parsed, start + json + behind, start.length)).toBe(json);
      }),
    );
  });

  it.each(['x', '"', '\\', '\n', '\u0001', 'ä', '漢', '😀', 'x😀', '\u2028', '\x7f'])(
    'is so for long texts of %j',
    (part) => {
      for (const before of ['', 'x', 'xy']) {
        const value = { text: before + part.repeat(40_000) };
        const json = JSON.stringify(value);
        expect(sentJson(value, start + json, start.length)).toBe(json);
      }
    },
  );

  it.each([
    '{"a": 1}',
    '{ "a":1}',
    '{"a":1.0}',
    '{"a":-0}',
    '{"a":1e2}',
    '{"a":"\\u0041"}',
    '{"a":"\\/"}',
    '{"b":1,"1":2}',
    '{"a":1,"a":2}',
    '{"a":[1, 2]}',
    '{"a":"\\ud83d\\ude00"}',
    `{"a":[${'1,'.repeat(5000)}1]}`,
  ])('is not taken where it was written otherwise: %s', (sent) => {
    const value = JSON.parse(sent);
    expect(sentJson(value, `${start}${sent}}`, start.length)).toBeUndefined();
  });

  it.each([
    ['as it stands', (json: string) => `{"data":${json}}`],
    ['with spaces', (json: string) => `{ "data" : ${json} }`],
    ['behind another', (json: string) => `{"data":{},"data":${json}}`],
    ['behind other fields', (json: string) => `{"inc":{"n":1},"data":${json}}`],
  ])('changes nothing of what is checked: %s', (_name, write) => {
    const text = `"quoted"\n${'ä'.repeat(200_000)}😀`;
    const body = write(JSON.stringify({ text, n: 1.5, list: [null, true, { deep: 'x' }] }));
    const { data } = JSON.parse(body);
    const { has, at, ...alone } = checkData(data);
    expect(checkData(data, body)).toMatchObject(alone);
  });

  it('drops the record’s own fields', () => {
    const body = JSON.stringify({ data: { text: 'x'.repeat(200_000), id: 'mine' } });
    const { json } = checkData(JSON.parse(body).data, body);
    expect(JSON.parse(json)).toEqual({ text: 'x'.repeat(200_000) });
  });
});
