import { dataJson, refuseRoundedNumbers } from './data.ts';
import { type Patch, parsePatch } from './patch.ts';

/** A validated body as it came; see packages/http. */
export interface SentBody {
  value: unknown;
  text: string;
}

/** The `data` of a body. @throws ApiError invalid_data */
export const dataOf = ({ value, text }: SentBody): string => {
  const json = dataJson((value as { data: unknown }).data);
  refuseRoundedNumbers(text);
  return json;
};

/** A body of `data`, `unset` and `inc`. @throws ApiError invalid_data */
export const patchOf = ({ value, text }: SentBody): Patch => {
  const patch = parsePatch(value as Parameters<typeof parsePatch>[0]);
  refuseRoundedNumbers(text);
  return patch;
};
