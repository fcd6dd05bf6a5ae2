import { runService } from '@backlot/service';
import { ai } from './index.ts';

await runService(ai);
