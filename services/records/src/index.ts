import { runnable } from '@backlot/service';
import { recordsService } from './service.ts';

export const records = runnable(recordsService, () => ({}));
