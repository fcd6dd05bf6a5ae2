import { AreaTabs } from '../../parts/area-tabs.tsx';

const pages = [
  ['payments', 'Payments'],
  ['payments/products', 'Products and stock'],
  ['payments/orders', 'Orders'],
  ['payments/keys', 'Stripe'],
] as const;

export const PaymentTabs = () => <AreaTabs label="Payments" pages={pages} />;
