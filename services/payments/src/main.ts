import { runService } from '@backlot/service';
import { payments } from './index.ts';

await runService(payments);
