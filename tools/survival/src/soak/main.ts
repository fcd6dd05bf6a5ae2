import { randomFrom } from '../random.ts';
import { composeTarget } from './compose-target.ts';
import { soak } from './soak.ts';

/** `pnpm soak [minutes]`, in a folder whose `docker compose up` has been done. */
const minutes = Number(process.argv[2] ?? 5);
const seed = Number(process.env.BACKLOT_SURVIVAL_SEED ?? Date.now() % 1_000_000);
console.log(`${minutes} minutes, seed ${seed}`);
const faults = await soak(await composeTarget(), {
  minutes,
  print: console.log,
  random: randomFrom(seed),
});
for (const fault of faults) console.error(fault);
console.log(faults.length === 0 ? 'Nothing is wrong.' : `${faults.length} things are wrong.`);
process.exitCode = faults.length === 0 ? 0 : 1;
