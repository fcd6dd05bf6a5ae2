import { productRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { ProductEditors } from '../products/product-editors.ts';
import type { Products } from '../products/products.ts';
import { checkAmount } from '../provider/currency.ts';

export const listProducts = (products: Products, editors: ProductEditors) =>
  route(productRoutes.listProducts, async ({ identity, query }) => ({
    body: await products.list(identity.project.number, query, await editors.toViewer(identity)),
  }));

export const getProduct = (products: Products, editors: ProductEditors) =>
  route(productRoutes.getProduct, async ({ identity, params }) => {
    const viewer = await editors.toViewer(identity);
    return { body: await products.get(identity.project.number, params.productId, viewer) };
  });

export const setProduct = (products: Products, editors: ProductEditors) =>
  route(productRoutes.setProduct, async ({ identity, params, body }) => {
    await editors.check(identity);
    checkAmount(body.currency, body.amount);
    return { body: await products.set(identity.project.number, params.productId, body) };
  });

export const deleteProduct = (products: Products, editors: ProductEditors) =>
  route(productRoutes.deleteProduct, async ({ identity, params }) => {
    await editors.check(identity);
    await products.delete(identity.project.number, params.productId);
    return { body: { ok: true as const } };
  });
