import type { ParkedEventContent, ServiceOperations } from '@backlot/contract';
import type { OtherOperations } from '../operators/all-services.ts';

export interface FakeService extends ServiceOperations {
  parked: ParkedEventContent[];
  replayed: string[];
  isDown: boolean;
  /** Secrets under an older key; a call seals two of them again. */
  old: number;
}

export type FakeOperations = { [Name in keyof OtherOperations]: FakeService };

const createFakeService = (): FakeService => {
  const answer = async <T>(read: () => T): Promise<T> => {
    if (fake.isDown) throw new Error('the service is down');
    return read();
  };
  const remove = (id: string) => {
    const at = fake.parked.findIndex((event) => event.id === id);
    if (at >= 0) fake.parked.splice(at, 1);
    return at >= 0;
  };
  const fake: FakeService = {
    parked: [],
    replayed: [],
    isDown: false,
    old: 0,
    listParked: ({ limit, before }) =>
      answer(() =>
        fake.parked
          .filter(({ id }) => before === undefined || id < before)
          .sort((a, b) => (a.id < b.id ? 1 : -1))
          .slice(0, limit)
          .map(({ payload: _, ...event }) => event),
      ),
    showParked: (id) => answer(() => fake.parked.find((event) => event.id === id) ?? null),
    replayParked: (id) =>
      answer(() => {
        if (!remove(id)) return 'gone';
        fake.replayed.push(id);
        return 'replayed';
      }),
    dropParked: (id) => answer(() => remove(id)),
    countSealed: () => answer(() => ({ old: fake.old, lost: 0, keys: [] })),
    reseal: () =>
      answer(() => {
        const resealed = Math.min(fake.old, 2);
        fake.old -= resealed;
        return { resealed, old: fake.old, lost: 0, keys: [] };
      }),
  };
  return fake;
};

export const createFakeOperations = (): FakeOperations => ({
  authOperations: createFakeService(),
  recordsOperations: createFakeService(),
  aiOperations: createFakeService(),
  storageOperations: createFakeService(),
  emailOperations: createFakeService(),
  paymentsOperations: createFakeService(),
});
