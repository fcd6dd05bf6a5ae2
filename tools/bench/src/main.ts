import { benchDev } from './dev.ts';
import { benchGateway } from './gateway.ts';
import { benchProviders } from './providers/providers.ts';
import { benchStorage } from './storage/storage.ts';

const benches: Record<string, () => Promise<void>> = {
  dev: benchDev,
  gateway: benchGateway,
  providers: benchProviders,
  storage: benchStorage,
};

const name = process.argv[2] ?? '';
const bench = benches[name];
if (bench) await bench();
else {
  console.error(`Which? pnpm bench ${Object.keys(benches).join(' | ')}`);
  process.exitCode = 1;
}
