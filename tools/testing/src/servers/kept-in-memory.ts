import type { Adapter, AdapterPayload } from 'oidc-provider';

/** What a provider in this process keeps, all of one kind. */
export const createKeptInMemory = () => {
  const kinds = new Map<string, Map<string, AdapterPayload>>();
  return class KeptInMemory implements Adapter {
    readonly #kept: Map<string, AdapterPayload>;
    constructor(kind: string) {
      this.#kept = kinds.get(kind) ?? new Map();
      kinds.set(kind, this.#kept);
    }
    async upsert(id: string, payload: AdapterPayload) {
      this.#kept.set(id, payload);
    }
    async find(id: string) {
      return this.#kept.get(id);
    }
    async findByUid(uid: string) {
      return [...this.#kept.values()].find((payload) => payload.uid === uid);
    }
    async findByUserCode() {
      return undefined;
    }
    async consume(id: string) {
      const payload = this.#kept.get(id);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
    }
    async destroy(id: string) {
      this.#kept.delete(id);
    }
    async revokeByGrantId(grantId: string) {
      for (const [id, payload] of this.#kept)
        if (payload.grantId === grantId) this.#kept.delete(id);
    }
  };
};
