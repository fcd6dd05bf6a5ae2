/** A clock that jumps from one sleeper's end to the next, so that hours pass at once and always alike. */
export class VirtualTime {
  #now = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  now = (): number => this.#now;

  sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      const at = this.#now + ms;
      const later = this.#sleepers.findIndex((sleeper) => sleeper.at > at);
      this.#sleepers.splice(later < 0 ? this.#sleepers.length : later, 0, { at, wake });
    });

  /** Lets time pass until `ms` from now, or until nobody sleeps any more. */
  async pass(ms = Number.POSITIVE_INFINITY): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#sleepers[0]; next && next.at <= end; next = this.#sleepers[0]) {
      this.#sleepers.shift();
      this.#now = next.at;
      next.wake();
      await settled();
    }
    if (end < Number.POSITIVE_INFINITY) this.#now = end;
  }
}

/** Every promise that can settle without time passing has. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
