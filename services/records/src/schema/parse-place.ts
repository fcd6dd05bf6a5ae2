import { ApiError } from '@backlot/contract';
import { maxProgramSize } from './pattern.ts';

/** Of schemas in schemas: records are no deeper. */
const maxLevels = 17;
/** Each is compiled, and one read of other records by each collection that is named. */
const maxPatterns = 20;
const maxReferredCollections = 5;

/** Where in a schema its reader is, and what it has met. */
export class ParsePlace {
  readonly #path: string[] = [];
  readonly #collections = new Set<string>();
  #patterns = 0;
  /** Of the programs of all patterns. */
  programSize = 0;

  get isRoot(): boolean {
    return this.#path.length === 0;
  }

  /** @throws ApiError where it is too deep */
  below<T>(steps: readonly string[], read: () => T): T {
    this.#path.push(steps.map((step) => step.slice(0, 60)).join('.'));
    if (this.#path.length > maxLevels) this.refuse(`has more than ${maxLevels - 1} levels`);
    const result = read();
    this.#path.pop();
    return result;
  }

  /** @throws ApiError invalid_body */
  refuse(problem: string, hint?: string): never {
    const at = ['schema', ...this.#path].join('.').toWellFormed().slice(0, 200);
    throw new ApiError('invalid_body', `${at} ${problem}.`, hint === undefined ? {} : { hint });
  }

  countPattern(size: number): void {
    this.#patterns += 1;
    this.programSize += size;
    if (this.#patterns > maxPatterns) this.refuse(`is one of more than ${maxPatterns} patterns`);
    if (this.programSize > maxProgramSize)
      this.refuse('repeats too much, with the patterns before it');
  }

  countReference(collection: string): void {
    this.#collections.add(collection);
    if (this.#collections.size > maxReferredCollections)
      this.refuse(`names one of more than ${maxReferredCollections} collections`);
  }
}
