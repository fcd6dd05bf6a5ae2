import { productRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { checkAmount } from '../checkout/currency.ts';
import type { Products } from '../products/products.ts';

/** Who changes products sees all of them. */
const viewer = ({ caller }: Identity) => ({
  seesAll: caller === 'owner' || caller === 'key' || caller === 'operator',
});

export const listProducts = (products: Products) =>
  route(productRoutes.listProducts, async ({ identity, query }) => ({
    body: await products.list(identity.project.number, query, viewer(identity)),
  }));

export const getProduct = (products: Products) =>
  route(productRoutes.getProduct, async ({ identity, params }) => ({
    body: await products.get(identity.project.number, params.productId, viewer(identity)),
  }));

export const setProduct = (products: Products) =>
  route(productRoutes.setProduct, async ({ identity, params, body }) => {
    checkAmount(body.currency, body.amount);
    return { body: await products.set(identity.project.number, params.productId, body) };
  });

export const deleteProduct = (products: Products) =>
  route(productRoutes.deleteProduct, async ({ identity, params }) => {
    await products.delete(identity.project.number, params.productId);
    return { body: { ok: true as const } };
  });
