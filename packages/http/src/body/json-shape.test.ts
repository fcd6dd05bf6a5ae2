import { describe, expect, it } from '@jest/globals';
import { parseJson } from './json-body.ts';

describe('the shape of a large body', () => {
  const large = 'x'.repeat(64 * 1024);
  const refusal = (json: string) => {
    try {
      parseJson(Buffer.from(json));
      return undefined;
    } catch (error) {
      return String(error);
    }
  };
  const nested = (levels: number, inside: string) =>
    '['.repeat(levels) + inside + ']'.repeat(levels);
  it('has its bounds: levels, keys, lists and objects', () => {
    expect(refusal(nested(100, `"${large}"`))).toBeUndefined();
    expect(refusal(nested(101, `"${large}"`))).toMatch('more than 100 levels');
    expect(refusal(`[${'{"a":1},'.repeat(99_999)}{"a":1}]`)).toBeUndefined();
    expect(refusal(`[${'{"a":1},'.repeat(100_000)}{"a":1}]`)).toMatch('more than 100000 keys');
    expect(refusal(`[${'{},'.repeat(299_998)}[]]`)).toBeUndefined();
    expect(refusal(`[${'{},'.repeat(299_999)}[]]`)).toMatch('more than 300000 lists and objects');
  });

  it('is seen past texts, whatever stands in them', () => {
    const text = JSON.stringify(`${large}[{"\\${'[,{'.repeat(1_000_000)}"`);
    expect(refusal(`{"a":[${text},${text}],"b":[[]]}`)).toBeUndefined();
    expect(refusal(`{"a":${text},"b":${nested(101, '')}}`)).toMatch('more than 100 levels');
  });

  it('may be a list of any length, and what is no JSON is refused as such', () => {
    expect(refusal(`[${'1,'.repeat(1_000_000)}1]`)).toBeUndefined();
    for (const wrong of [']]]]', ',,,,', '"', '{', '\\'])
      expect(refusal(large.replaceAll('x', wrong))).toMatch('not valid JSON');
  });

  it('of millions of levels is refused without parsing them', () => {
    expect(refusal('['.repeat(8_000_000))).toMatch('more than 100 levels');
  });
});
