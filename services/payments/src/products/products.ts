import { ApiError, type Product, productRoutes, type RouteBody } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Selectable } from 'kysely';
import type { Product as ProductTable, DB as Tables } from '../tables.ts';

export type ProductRow = Selectable<ProductTable>;
type ProductBody = RouteBody<typeof productRoutes.setProduct>;

/** Those who change products see also what is not for sale. */
interface Viewer {
  seesAll: boolean;
}

const isProductId = (id: string) => productRoutes.productId.safeParse(id).success;

const productNotFound = () => new ApiError('not_found', 'There is no such product.');

const present = (row: ProductRow): Product => ({
  id: row.id,
  name: row.name,
  amount: row.amount,
  currency: row.currency,
  stock: row.stock,
  active: row.active,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export type Products = ReturnType<typeof createProducts>;

/** What a project sells, at prices that its owner has set. */
export const createProducts = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);

  /** Calls of one project go one after the other until the transaction ends, so that the limit is exact. */
  const checkLimit = async (projectNumber: number, id: string) => {
    await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('products', $1))`, [
      projectNumber,
    ]);
    const { others } = await queries
      .selectFrom('products')
      .select(({ fn }) => fn.countAll<number>().as('others'))
      .where('project_number', '=', projectNumber)
      .where('id', '<>', id)
      .executeTakeFirstOrThrow();
    if (others < productRoutes.maxProducts) return;
    throw new ApiError(
      'product_limit',
      `A project may have at most ${productRoutes.maxProducts} products.`,
      { hint: 'Delete one that is no longer sold.' },
    );
  };

  return {
    /** A stock that is left out stays as it is. @throws ApiError product_limit */
    set: (projectNumber: number, id: string, body: ProductBody): Promise<Product> =>
      database.transaction(async () => {
        await checkLimit(projectNumber, id);
        const { stock, ...rest } = body;
        const at = new Date(now());
        const change = { ...rest, ...(stock !== undefined && { stock }), updated_at: at };
        const row = await queries
          .insertInto('products')
          .values({ project_number: projectNumber, id, ...change, created_at: at })
          .onConflict((conflict) => conflict.columns(['project_number', 'id']).doUpdateSet(change))
          .returningAll()
          .executeTakeFirstOrThrow();
        return present(row);
      }),

    /** @throws ApiError not_found */
    async get(projectNumber: number, id: string, { seesAll }: Viewer): Promise<Product> {
      if (!isProductId(id)) throw productNotFound();
      const row = await queries
        .selectFrom('products')
        .selectAll()
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .executeTakeFirst();
      if (!row || !(row.active || seesAll)) throw productNotFound();
      return present(row);
    },

    /** Those of these ids that are for sale. */
    async findForSale(projectNumber: number, ids: readonly string[]) {
      if (ids.length === 0) return new Map<string, ProductRow>();
      const rows = await queries
        .selectFrom('products')
        .selectAll()
        .where('project_number', '=', projectNumber)
        .where('id', 'in', ids)
        .where('active', '=', true)
        .execute();
      return new Map(rows.map((row) => [row.id, row]));
    },

    /** @throws ApiError invalid_cursor */
    async list(
      projectNumber: number,
      query: PageQuery,
      { seesAll }: Viewer,
    ): Promise<Page<Product>> {
      const after = readPosition('products', query.cursor, isProductId);
      const shown = queries
        .selectFrom('products')
        .selectAll()
        .where('project_number', '=', projectNumber)
        .$if(!seesAll, (products) => products.where('active', '=', true));
      const page = after
        ? shown.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
          )
        : shown;
      const rows = await page
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(query.limit + 1)
        .execute();
      return presentPage('products', query, rows, present);
    },

    /** @throws ApiError not_found */
    async delete(projectNumber: number, id: string): Promise<void> {
      if (!isProductId(id)) throw productNotFound();
      const { numDeletedRows } = await queries
        .deleteFrom('products')
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw productNotFound();
    },
  };
};
