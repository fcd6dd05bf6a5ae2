import { ApiError } from '@backlot/contract';
import type { JsonRecord } from '../../list/shown/shown-fields.ts';

/** A line of a body that is imported; of CSV a row, which may take several. */
export interface ReadLine {
  /** Its number, from 1 on. */
  line: number;
  /** The number of the line behind it. */
  next: number;
  bytes: number;
  /** What it says. @throws ApiError */
  read(): JsonRecord;
}

/** Where lines come to an end before the body does. */
export class Unreadable extends ApiError {
  /** Of the first line that is not read. */
  readonly line: number;

  constructor(line: number, message: string, options?: ConstructorParameters<typeof ApiError>[2]) {
    super('invalid_body', message, options);
    this.line = line;
  }
}

/** What one line may have, in bytes: a record as JSON, with its own fields. */
export const maxLineBytes = 1.25 * 1024 * 1024;

export const lineTooLong = () =>
  new ApiError('body_too_large', `The line has more than ${maxLineBytes} bytes.`);
