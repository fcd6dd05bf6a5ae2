import type { Answer } from '../../../api/operation-types.ts';

export type SealedSecrets = Answer<'getSealedSecrets'>;
type SealedUnder = SealedSecrets['services'][number]['keys'][number];

/** A master key over all services. */
export interface MasterKey extends Pick<SealedUnder, 'setting' | 'keyId'> {
  /** `mixed`: services do not agree, as while they are exchanged one by one. */
  state: SealedUnder['state'] | 'mixed';
  sealed: number;
  /** Services that have something under it. */
  services: readonly { service: string; sealed: number }[];
}

const merge = (all: readonly (SealedUnder & { service: string })[]): MasterKey[] => {
  const [first] = all;
  if (!first) return [];
  const { setting, keyId, state } = first;
  const services = all.filter(({ sealed }) => sealed > 0);
  return [
    {
      setting,
      keyId,
      state: all.every((one) => one.state === state) ? state : 'mixed',
      sealed: services.reduce((sum, { sealed }) => sum + sealed, 0),
      services,
    },
  ];
};

/** In the order of the ring; those that are in none come last. */
export const toKeys = ({ services }: SealedSecrets): MasterKey[] => {
  const all = services.flatMap(({ service, keys }) => keys.map((key) => ({ ...key, service })));
  const byKey = Map.groupBy(all, ({ setting, keyId }) => `${setting} ${keyId}`);
  const merged = [...byKey.values()].flatMap(merge);
  return [
    ...merged.filter(({ state }) => state !== 'lost'),
    ...merged.filter(({ state }) => state === 'lost'),
  ];
};

export const sumOf = ({ services }: SealedSecrets, what: 'old' | 'lost'): number =>
  services.reduce((sum, counts) => sum + counts[what], 0);
