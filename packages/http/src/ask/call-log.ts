import type { CallLogDirectory } from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull } from './ask.ts';

/** The projects service handed over HTTP what was noted of calls. */
export const createHttpCallLogDirectory = (options: HttpDirectoryOptions): CallLogDirectory => {
  const ask = createAsk(options, 'POST');
  return {
    async takeCalls(batch) {
      const answer = await jsonOrNull(await ask('/internal/calls', batch));
      // An older version of the service does not know the question.
      if (!answer) throw new Error(`${options.origin} keeps no calls.`);
    },
  };
};
