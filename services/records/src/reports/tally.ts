import type { Problem } from '@backlot/contract';

/** Records that break one rule in one place. */
export interface TalliedProblem {
  /** `items[].price`. */
  path: string;
  rule: string;
  count: number;
  /** The id of one of them. */
  example: string;
}

/** Names of fields that no schema knows are data: as many as there are. */
const maxProblems = 200;

/** All elements of a list are one place. */
const toPlace = (path: string): string => path.replace(/\[\d+\]/g, '[]');

/** Counts what does not fit, by field and rule. */
export class Tally {
  readonly #known = new Map<string, TalliedProblem>();
  /** Records with problems. */
  unfit = 0;
  /** Problems that found no room. */
  others = 0;

  constructor(before: readonly TalliedProblem[]) {
    for (const problem of before) this.#known.set(`${problem.rule} ${problem.path}`, problem);
  }

  add(id: string, problems: readonly Problem[]): void {
    if (problems.length === 0) return;
    this.unfit += 1;
    const places = new Map(
      problems.map(({ path, rule }) => [`${rule} ${toPlace(path)}`, { path: toPlace(path), rule }]),
    );
    for (const [key, { path, rule }] of places) {
      const known = this.#known.get(key);
      if (known) known.count += 1;
      else if (this.#known.size >= maxProblems) this.others += 1;
      else this.#known.set(key, { path, rule, count: 1, example: id });
    }
  }

  /** The most frequent first. */
  get problems(): TalliedProblem[] {
    return [...this.#known.values()].sort((a, b) => b.count - a.count);
  }
}
