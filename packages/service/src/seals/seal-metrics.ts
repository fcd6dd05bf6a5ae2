import type { ServiceOperations } from '@backlot/contract';
import { shareLook } from '@backlot/http';
import { Gauge, type Registry } from '@backlot/telemetry';

/** All of them are counted. */
const lookEveryMs = 60_000;

/** Shows how much has to be sealed again before an old master key can be dropped. Nowhere without a registry. */
export const measureSeals = (
  registry: Registry | undefined,
  { countSealed }: Pick<ServiceOperations, 'countSealed'>,
): void => {
  if (!registry) return;
  const look = shareLook(
    () => countSealed().catch(() => undefined),
    performance.now.bind(performance),
    lookEveryMs,
  );
  new Gauge({
    name: 'backlot_secrets_under_old_keys',
    help: 'Secrets sealed under an older master key, or under none that is known',
    registers: [registry],
    labelNames: ['key'] as const,
    async collect() {
      const counts = await look();
      this.reset();
      if (!counts) return;
      this.set({ key: 'old' }, counts.old);
      this.set({ key: 'unknown' }, counts.lost);
    },
  });
};
