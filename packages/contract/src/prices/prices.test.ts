import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openApiDocument } from '../openapi/openapi.ts';
import { generateText } from '../routes/ai/generate-text.ts';
import { sendEmail } from '../routes/email/send-email.ts';
import { routes } from '../routes/index.ts';
import { priceChangesSetting, priceList } from '../routes/price-list.ts';
import { uploadFile } from '../routes/storage/uploads.ts';
import { affordableQuantity, costMillicredits, type Tariff } from './prices.ts';

const tariffs: Tariff[] = [generateText.price, sendEmail.price, uploadFile.price];

describe('a price', () => {
  it('is multiplied by what was used', () => {
    expect(costMillicredits(sendEmail.price, 3, 2000)).toBe(6000);
    expect(costMillicredits(uploadFile.price, 10 * 1024 * 1024 + 1, 700)).toBe(1400);
    expect(costMillicredits(generateText.price, 2500, 1500)).toBe(3750);
    expect(costMillicredits(generateText.price, 1, 1500)).toBe(1500);
  });

  it('is nothing where nothing was used, but for an empty file, which costs what the smallest does', () => {
    expect(tariffs.map((tariff) => costMillicredits(tariff, 0, 700))).toEqual([0, 0, 700]);
    expect(costMillicredits(uploadFile.price, 1, 700)).toBe(700);
    expect(costMillicredits(uploadFile.price, 0, 0)).toBe(0);
  });

  it('covers exactly as much as it can pay for, whatever the operator has set', () => {
    const quantity = fc.integer({ min: 1, max: 5 * 1024 ** 3 });
    const perUnit = fc.integer({ min: 1, max: 1_000_000 });
    // What more pays for in bytes no double holds exactly.
    const millicredits = fc.integer({ min: 0, max: 8e8 });
    fc.assert(
      fc.property(
        fc.constantFrom(...tariffs),
        quantity,
        perUnit,
        millicredits,
        (tariff, used, price, credits) => {
          const covered = affordableQuantity(tariff, credits, price);
          const coveredCost = covered === 0 ? 0 : costMillicredits(tariff, covered, price);
          expect(coveredCost).toBeLessThanOrEqual(credits);
          expect(costMillicredits(tariff, covered + 1, price)).toBeGreaterThan(credits);
          const cost = costMillicredits(tariff, used, price);
          expect(affordableQuantity(tariff, cost, price)).toBeGreaterThanOrEqual(used);
        },
      ),
    );
    expect(affordableQuantity(sendEmail.price, 0, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is shown in the API description, as it is in force', () => {
    const { paths } = openApiDocument(routes, { uploadFile: 500 }) as {
      paths: Record<string, Record<string, { description: string; 'x-price'?: object }>>;
    };
    const upload = paths['/storage/upload']?.post;
    expect(upload?.['x-price']).toEqual({
      quantity: 'bytes',
      unitSize: 10_485_760,
      chargesStartedUnits: true,
      millicreditsPerUnit: 500,
      minimumMillicredits: 500,
    });
    expect(upload?.description).toContain('500 milli-credits for each started 10485760 bytes');
    expect(paths['/email/send']?.post?.['x-price']).toMatchObject({ millicreditsPerUnit: 1000 });
    expect(paths['/auth/me']?.get).not.toHaveProperty('x-price');
  });
});

describe('the list of prices', () => {
  it('names every priced operation once', () => {
    const priced = routes.filter(({ price }) => price).map(({ operationId }) => operationId);
    const listed = priceList({}).flatMap(({ operations }) => operations);
    expect(listed.sort()).toEqual(priced.sort());
  });

  it('gives operations with one price one amount', () => {
    expect(priceList({ uploadFile: 3000 })).toContainEqual(
      expect.objectContaining({
        operationId: 'uploadFile',
        operations: ['appendResumable', 'completeUpload', 'createResumable', 'uploadFile'],
        millicreditsPerUnit: 3000,
      }),
    );
  });
});

describe('the setting of prices', () => {
  it('reads milli-credits per unit', () => {
    expect(priceChangesSetting.parse('{"sendEmail": 2000, "generateText": 0}')).toEqual({
      sendEmail: 2000,
      generateText: 0,
    });
  });

  it.each([
    '{',
    '[]',
    '5',
    '{"completeUpload": 1}',
    '{"getMe": 1}',
    '{"sendEmail": -1}',
    '{"sendEmail": 0.5}',
    '{"sendEmail": 1000001}',
    '{"sendEmail": "2000"}',
  ])('refuses %s', (text) => {
    expect(priceChangesSetting.safeParse(text).success).toBe(false);
  });
});
