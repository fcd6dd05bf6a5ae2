import { benchCalls } from './calls/calls.ts';
import { benchConsole } from './console/console.ts';
import { benchDev } from './dev.ts';
import { benchGateway } from './gateway/gateway.ts';
import { benchHistory } from './history.ts';
import { benchIdleProjects } from './idle-projects.ts';
import { benchLive } from './live/live.ts';
import { benchAttack, benchNeighbour } from './neighbours/by-hand.ts';
import { benchNeighbours } from './neighbours/neighbours.ts';
import { benchProviders } from './providers/providers.ts';
import { benchRecords } from './records/records.ts';
import { benchRules } from './rules.ts';
import { benchSignIn } from './sign-in.ts';
import { benchStorage } from './storage/storage.ts';

const benches: Record<string, (args: readonly string[]) => Promise<void>> = {
  attack: benchAttack,
  calls: benchCalls,
  console: benchConsole,
  dev: benchDev,
  gateway: benchGateway,
  history: benchHistory,
  'idle-projects': benchIdleProjects,
  live: benchLive,
  neighbour: benchNeighbour,
  neighbours: benchNeighbours,
  providers: benchProviders,
  records: benchRecords,
  rules: benchRules,
  'sign-in': benchSignIn,
  storage: benchStorage,
};

const [name = '', ...args] = process.argv.slice(2);
const bench = benches[name];
if (bench) await bench(args);
else {
  console.error(`Which? pnpm bench ${Object.keys(benches).join(' | ')}`);
  process.exitCode = 1;
}
