export { type PaymentsConfig, parseConfig } from './config.ts';
export { createPaymentsService, type PaymentsDeps, type PaymentsService } from './service.ts';
