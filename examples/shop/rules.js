import { question, receipt } from './mails.js';

/** Calls of the control plane, each with its path below /api/platform/projects/<id> and its body. */
export const setUp = [
  // Whoever pays, pays the amounts of products, which the owner, keys and staff set. Mails say what the owner words.
  [
    'PATCH',
    '',
    {
      settings: {
        payments: 'products-only',
        productEditors: ['role:staff'],
        mailContent: 'templates',
      },
    },
  ],
  // Staff see all orders, their buyers their own. Nobody changes items; a payment alone sets the status.
  [
    'PUT',
    '/collections/orders',
    {
      access: {
        read: ['owner', 'role:staff'],
        create: ['users'],
        change: ['role:staff'],
        delete: [],
        fields: {
          items: { create: ['users'], change: [] },
          address: { create: ['users'], change: [] },
          status: { change: [] },
          payment: { change: [] },
          sentAt: { create: [], change: ['role:staff'] },
        },
      },
      limits: { maxBytes: 20_000, perUserPerHour: 30, perAddressPerHour: 100 },
    },
  ],
  ['PUT', '/collections/productDetails', { access: 'catalog' }],
  ['PUT', '/mail-templates/receipt', receipt],
  ['PUT', '/mail-templates/question', question],
  ['PUT', '/on-paid/order', { collection: 'orders', set: { status: 'paid' }, pays: 'items' }],
];
