import type { CreditDirectory } from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions } from './ask.ts';

/** The projects service asked to load credits over HTTP. */
export const createHttpCreditDirectory = (options: HttpDirectoryOptions): CreditDirectory => {
  const ask = createAsk(options, 'POST');
  const post = async (ownerId: string, what: string, body: unknown) => {
    const response = await ask(`/internal/credits/${encodeURIComponent(ownerId)}/${what}`, body);
    await response.body?.cancel();
    if (response.status !== 200) throw new Error(`${options.origin} knows no such owner.`);
  };
  return {
    loadOwner: (ownerId, project) => post(ownerId, 'load', project),
    noteRefusal: (ownerId, refusal) => post(ownerId, 'refusals', refusal),
  };
};
