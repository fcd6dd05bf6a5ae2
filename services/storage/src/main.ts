import { runService } from '@backlot/service';
import { storage } from './index.ts';

await runService(storage);
