import { ApiError } from '@backlot/contract';

/** Something that a template may not have, at a place of one of its texts. */
export class TemplateProblem extends Error {
  override readonly name = 'TemplateProblem';
  /** Where in the text. */
  readonly index: number;

  constructor(message: string, index: number) {
    super(message);
    this.index = index;
  }
}

const describePlace = (text: string, index: number) => {
  const lines = text.slice(0, index).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
};

/** @throws ApiError invalid_body in place of a problem, with its line and column */
export const explainProblems = <T>(part: string, text: string, check: () => T): T => {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    const message = `"${part}": ${describePlace(text, error.index)}: ${error.message}`;
    throw new ApiError('invalid_body', message);
  }
};
