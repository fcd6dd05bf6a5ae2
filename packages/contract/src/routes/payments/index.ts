export * from './checkout-pages.ts';
export * from './create-checkout.ts';
export * from './payments.ts';
export * from './stripe-secret.ts';
