import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { installPackages } from '@backlot/testing/install-packages';
import type { Api } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

interface Country {
  cca2: string;
  name: { common: string; native: Record<string, { common: string }> };
  region: string;
  independent: boolean;
  landlocked: boolean;
  area: number;
  borders: string[];
  capital: string[];
  currencies: Record<string, { name: string }>;
  languages: Record<string, string>;
  latlng: [number, number];
}

const folder = await installPackages(new URL('../packages/world-countries/', import.meta.url));
const file = join(folder, 'node_modules/world-countries/countries.json');
const countries: Country[] = JSON.parse(await readFile(file, 'utf8'));
await rm(folder, { recursive: true });
const byCodePoint = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

describe('250 countries imported through the API', () => {
  let platform: PlatformUnderTest;
  let api: Api;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    const project = await platform.newProject();
    api = project.api;
    for (const data of countries) {
      const answer = await api('POST', '/db/countries', {
        token: project.owner.token,
        body: { data },
      });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    }
  });
  afterAll(() => platform.stop());

  const ask = async (where: object, rest = '') => {
    const { status, body } = await api(
      'GET',
      `/db/countries?limit=1000&where=${encodeURIComponent(JSON.stringify(where))}${rest}`,
    );
    expect(status).toBe(200);
    return body.items as Country[];
  };
  const codes = (list: Country[]) => list.map((country) => country.cca2).sort();

  it('gives every document back as it went in', async () => {
    const stored = new Map((await ask({})).map((item) => [item.cca2, item]));
    expect(stored.size).toBe(countries.length);
    for (const country of countries) expect(stored.get(country.cca2)).toMatchObject({ ...country });
  });

  const questions: [string, object, (country: Country) => boolean][] = [
    ['which lie in Europe', { region: 'Europe' }, (c) => c.region === 'Europe'],
    [
      'which are larger than 1,000,000 km²',
      { area: { $gt: 1_000_000 } },
      (c) => c.area > 1_000_000,
    ],
    ['which border on Germany', { borders: 'DEU' }, (c) => c.borders.includes('DEU')],
    [
      'which border on both Germany and France',
      { borders: { $all: ['DEU', 'FRA'] } },
      (c) => c.borders.includes('DEU') && c.borders.includes('FRA'),
    ],
    [
      'which are islands in the sense of having no border',
      { borders: { $size: 0 } },
      (c) => c.borders.length === 0,
    ],
    ['where French is spoken', { 'languages.fra': { $exists: true } }, (c) => 'fra' in c.languages],
    [
      'which pay in euro',
      { 'currencies.EUR.name': 'Euro' },
      (c) => c.currencies.EUR?.name === 'Euro',
    ],
    [
      'whose capital begins with S',
      { 'capital.0': { $startsWith: 'S' } },
      (c) => c.capital[0]?.startsWith('S') ?? false,
    ],
    [
      'which have land in their name, whatever the case',
      { 'name.common': { $contains: 'LAND', $options: 'i' } },
      (c) => c.name.common.toLowerCase().includes('land'),
    ],
    ['which lie south of the equator', { 'latlng.0': { $lt: 0 } }, (c) => c.latlng[0] < 0],
    [
      'landlocked outside Africa',
      { landlocked: true, region: { $ne: 'Africa' } },
      (c) => c.landlocked && c.region !== 'Africa',
    ],
    [
      'tiny or without a capital',
      { $or: [{ area: { $lt: 10 } }, { capital: { $size: 0 } }] },
      (c) => c.area < 10 || c.capital.length === 0,
    ],
    [
      'neither in Asia nor in the Americas nor landlocked',
      { $nor: [{ region: { $in: ['Asia', 'Americas'] } }, { landlocked: true }] },
      (c) => !['Asia', 'Americas'].includes(c.region) && !c.landlocked,
    ],
    ['not larger than Luxembourg', { area: { $not: { $gt: 2586 } } }, (c) => !(c.area > 2586)],
  ];

  it.each(questions)('answers %s', async (_question, where, isAnswer) => {
    const expected = codes(countries.filter(isAnswer));
    expect(expected.length).toBeGreaterThan(0);
    expect(codes(await ask(where))).toEqual(expected);
    const { body } = await api(
      'GET',
      `/db/countries/_count?where=${encodeURIComponent(JSON.stringify(where))}`,
    );
    expect(body).toMatchObject({ count: expected.length });
  });

  it('sorts by area, by name in code points, and by region then area', async () => {
    const areas = (list: Country[]) => list.map((country) => country.area);
    expect(areas(await ask({}, '&sort=-area'))).toEqual(areas(countries).sort((a, b) => b - a));
    const names = (list: Country[]) => list.map((country) => country.name.common);
    expect(names(await ask({}, '&sort=name.common'))).toEqual(names(countries).sort(byCodePoint));
    const both = (await ask({}, '&sort=region,-area')).map((c) => [c.region, c.area]);
    const expected = [...countries]
      .sort((a, b) => byCodePoint(a.region, b.region) || b.area - a.area)
      .map((c) => [c.region, c.area]);
    expect(both).toEqual(expected);
  });

  it('pages through all of them by cursor, each once, in order', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await api('GET', `/db/countries?sort=region,-area&limit=33${cursor}`);
      seen.push(...body.items.map((item: Country) => item.cca2));
      cursor = body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(body.nextCursor)}`;
    } while (cursor);
    expect(seen).toEqual((await ask({}, '&sort=region,-area')).map((item) => item.cca2));
    expect(new Set(seen).size).toBe(countries.length);
  });
});
