import { ApiError, productRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { checkAmount } from '../checkout/currency.ts';
import type { Products } from '../products/products.ts';

const mayManage = ({ caller, role }: Identity): boolean =>
  ['owner', 'key', 'operator'].includes(caller) || (caller === 'user' && role === 'staff');

/** @throws ApiError forbidden */
const checkManager = (identity: Identity): void => {
  if (mayManage(identity)) return;
  throw new ApiError('forbidden', 'Products are changed by the owner, by keys and by staff.', {
    hint: 'The owner makes a user staff: PATCH /api/platform/projects/<id>/users/<id> {"role": "staff"}.',
  });
};

/** Who changes products sees all of them. */
const viewer = (identity: Identity) => ({ seesAll: mayManage(identity) });

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
    checkManager(identity);
    checkAmount(body.currency, body.amount);
    return { body: await products.set(identity.project.number, params.productId, body) };
  });

export const deleteProduct = (products: Products) =>
  route(productRoutes.deleteProduct, async ({ identity, params }) => {
    checkManager(identity);
    await products.delete(identity.project.number, params.productId);
    return { body: { ok: true as const } };
  });
