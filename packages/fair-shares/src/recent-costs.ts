/**
 * Of what is done lately. Accounts are free, and so 20 of them on one address would have 20 shares: whoever
 * stays below this, as an owner and as an address, goes before all who have had more.
 */
const lightShare = 1 / 4;
const memoryMs = 5000;
const maxRemembered = 1000;

/** What each owner, or each address, has cost lately, besides what waits or runs. */
export class RecentCosts {
  readonly #now: () => number;
  readonly #costs = new Map<string, { ms: number; at: number }>();
  #all = { ms: 0, at: 0 };

  constructor(now: () => number) {
    this.#now = now;
  }

  add(key: string, costMs: number): void {
    const ms = this.#decayed(this.#costs.get(key)) + costMs;
    this.#costs.delete(key);
    this.#costs.set(key, { ms, at: this.#now() });
    this.#all = { ms: this.#decayed(this.#all) + costMs, at: this.#now() };
    const [oldest] = this.#costs.keys();
    if (this.#costs.size > maxRemembered && oldest !== undefined) this.#costs.delete(oldest);
  }

  isLight(key: string): boolean {
    return this.#decayed(this.#costs.get(key)) <= lightShare * this.#decayed(this.#all);
  }

  #decayed(costs = { ms: 0, at: 0 }): number {
    return costs.ms * Math.exp((costs.at - this.#now()) / memoryMs);
  }
}
