import { runService } from '@backlot/service';
import { auth } from './index.ts';

await runService(auth);
