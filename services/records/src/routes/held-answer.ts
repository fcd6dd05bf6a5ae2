import type { FairShares } from '@backlot/fair-shares';
import { JsonText, LargeJson } from '@backlot/http';
import { wholePart } from '../list/shown/large-pages.ts';
import type { Reader } from '../reader.ts';

/** A larger answer has a place for as long as it waits to be taken. */
const smallBytes = 64 * 1024;

/** @throws FairShareFull, WaitedTooLong where too many large answers are held already */
export const holdAnswer = async (
  json: string,
  answers: FairShares,
  { requester, signal }: Reader,
): Promise<JsonText | LargeJson> => {
  if (json.length <= smallBytes) return new JsonText(json);
  const release = await answers.take(requester, { signal });
  return new LargeJson(wholePart(json, release));
};
