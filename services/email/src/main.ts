import { runService } from '@backlot/service';
import { email } from './index.ts';

await runService(email);
