import { runService } from '@backlot/service';
import { records } from './index.ts';

await runService(records);
