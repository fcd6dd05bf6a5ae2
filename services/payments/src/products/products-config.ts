import { ApiError, productRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { ConfigStore } from '@backlot/service';

interface Entry {
  name: string;
  amount: number;
  currency: string;
  active: boolean;
}

export interface ProductsConfigDeps {
  database: Database;
  /** @throws ApiError invalid_body that names the field of the currency or of the amount */
  checkAmount(currency: string, amount: number, field: string, currencyField: string): void;
  now: () => number;
}

const readSql = `SELECT id, name, amount, currency, active FROM products
  WHERE project_number = $1 ORDER BY id`;

/** Stock stays as it is; of a new product it is not counted. */
const setSql = `INSERT INTO products
    (project_number, id, name, amount, currency, active, created_at, updated_at)
  SELECT $1, id, name, amount, currency, active, $3, $3
  FROM jsonb_to_recordset($2::jsonb) AS given (id text, name text, amount int8, currency text, active bool)
  ON CONFLICT (project_number, id) DO UPDATE SET name = excluded.name, amount = excluded.amount,
    currency = excluded.currency, active = excluded.active, updated_at = excluded.updated_at`;

/** Products as a project's config has them: without their stock. All that change are written by one statement. */
export const createProductsConfig = ({
  database,
  checkAmount,
  now,
}: ProductsConfigDeps): ConfigStore => ({
  async read(projectNumber) {
    const rows = await database.query<Entry & { id: string }>(readSql, [projectNumber]);
    return Object.fromEntries(rows.map(({ id, ...entry }) => [id, entry]));
  },
  async setAll({ number }, entries) {
    const products = (entries as [string, Entry][]).map(([id, entry]) => ({ id, ...entry }));
    for (const { id, currency, amount } of products)
      checkAmount(currency, amount, `products.${id}.amount`, `products.${id}.currency`);
    await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('products', $1))`, [
      number,
    ]);
    await database.query(setSql, [number, JSON.stringify(products), new Date(now())]);
    const [row] = await database.query<{ count: number }>(
      'SELECT count(*) AS count FROM products WHERE project_number = $1',
      [number],
    );
    if ((row?.count ?? 0) <= productRoutes.maxProducts) return;
    throw new ApiError(
      'product_limit',
      `A project may have at most ${productRoutes.maxProducts} products.`,
    );
  },
  async remove({ number }, names) {
    await database.query('DELETE FROM products WHERE project_number = $1 AND id = ANY ($2)', [
      number,
      names,
    ]);
    return [];
  },
});
