import { runnable } from '@backlot/service';
import { paymentsService } from './service.ts';

export const payments = runnable(paymentsService, () => ({}));
