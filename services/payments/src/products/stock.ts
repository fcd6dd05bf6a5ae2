import { type paymentRoutes, productRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';

type Item = Pick<paymentRoutes.Item, 'product' | 'quantity'>;

/** How many of each product. */
export const sumByProduct = (items: readonly Item[]): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const { product, quantity } of items)
    if (product !== undefined) sums.set(product, (sums.get(product) ?? 0) + quantity);
  return sums;
};

export type Stock = ReturnType<typeof createStock>;

/** How many of each product are left. */
export const createStock = (database: Database) => {
  /** To the end of the transaction, always in the same order. */
  const lock = (projectNumber: number, ids: readonly string[]) =>
    database.query<{ id: string; stock: number | null }>(
      `SELECT id, stock FROM products WHERE project_number = $1 AND id = ANY ($2)
       ORDER BY id FOR UPDATE`,
      [projectNumber, ids],
    );

  return {
    /**
     * Takes all of it, or nothing and answers false: of a product that was deleted none is left. To be
     * called in a transaction, to whose end the products stay locked.
     */
    async take(projectNumber: number, items: readonly Item[]): Promise<boolean> {
      const wanted = sumByProduct(items);
      const ids = [...wanted.keys()];
      if (ids.length === 0) return true;
      const products = await lock(projectNumber, ids);
      const hasAll =
        products.length === ids.length &&
        products.every(({ id, stock }) => stock === null || stock >= (wanted.get(id) ?? 0));
      if (!hasAll) return false;
      await database.query(
        `UPDATE products SET stock = stock - taken.quantity
         FROM unnest($2::text[], $3::int[]) taken(id, quantity)
        WHERE project_number = $1 AND products.id = taken.id AND stock IS NOT NULL`,
        [projectNumber, ids, [...wanted.values()]],
      );
      return true;
    },

    /** In a transaction too. Of what is not counted, or was deleted, none. */
    async putBack(projectNumber: number, items: readonly Item[]): Promise<void> {
      const returned = sumByProduct(items);
      if (returned.size === 0) return;
      await lock(projectNumber, [...returned.keys()]);
      await database.query(
        `UPDATE products SET stock = least(stock::int8 + returned.quantity, ${productRoutes.maxStock})
         FROM unnest($2::text[], $3::int[]) returned(id, quantity)
        WHERE project_number = $1 AND products.id = returned.id AND stock IS NOT NULL`,
        [projectNumber, [...returned.keys()], [...returned.values()]],
      );
    },
  };
};
