import { refuse } from './operands.ts';

/** Contract section 4. */
const maxNesting = 5;
const maxConditions = 50;

/** Counts what the caps are about while a filter is read. */
export class Budget {
  #conditions = 0;

  spendCondition(): void {
    this.#conditions += 1;
    if (this.#conditions > maxConditions) refuse(`has more than ${maxConditions} conditions.`);
  }

  checkNesting(depth: number): void {
    if (depth > maxNesting) refuse(`nests $and, $or, $nor and $not more than ${maxNesting} deep.`);
  }
}
