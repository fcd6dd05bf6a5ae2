import { z } from 'zod';
import { type PriceChanges, priceTerms, type Tariff } from '../prices/prices.ts';
import { routes } from './index.ts';

const tariffs = new Map<string, { tariff: Tariff; operations: string[] }>();
for (const { operationId, price } of routes) {
  if (!price) continue;
  const known = tariffs.get(price.operationId);
  if (known) known.operations.push(operationId);
  else tariffs.set(price.operationId, { tariff: price, operations: [operationId] });
}

const maxMillicreditsPerUnit = 1_000_000;

/** The operator's setting, as JSON: `{"sendEmail": 2000}`, milli-credits per unit; 0 makes a call free. */
export const priceChangesSetting = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(
    z.partialRecord(
      z.enum([...tariffs.keys()]),
      z.number().int().min(0).max(maxMillicreditsPerUnit),
    ),
  )
  .transform((changes): PriceChanges => changes as PriceChanges);

/** Every price that is in force. */
export const priceList = (changes: PriceChanges) =>
  [...tariffs].map(([operationId, { tariff, operations }]) => ({
    operationId,
    operations,
    ...priceTerms(tariff, changes),
  }));
