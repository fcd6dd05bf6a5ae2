import { benchDev } from './dev.ts';

const benches: Record<string, () => Promise<void>> = { dev: benchDev };

const name = process.argv[2] ?? '';
const bench = benches[name];
if (bench) await bench();
else {
  console.error(`Which? pnpm bench ${Object.keys(benches).join(' | ')}`);
  process.exitCode = 1;
}
