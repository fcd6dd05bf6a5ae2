import { hash, hkdfSync } from 'node:crypto';
import type { Answer, IdempotentCall } from '@backlot/http';
import { openUnder, sealUnder } from '@backlot/sealing';

const sha256 = (text: string) => hash('sha256', text, 'buffer');

/** What a call is stored by, and what tells an equal request. */
export const hashCall = ({ scope, request }: IdempotentCall) => ({
  scopeHash: sha256(scope),
  requestHash: sha256(request),
});

const sealingKey = (call: IdempotentCall) =>
  new Uint8Array(hkdfSync('sha256', call.key, call.scope, 'idempotent answer', 32));

/**
 * An answer whose body ends with what the request has before its last character, such as the fields of
 * `{"data":{…}}`. Only an equal request gets it again, which brings them along.
 */
interface ShortAnswer extends Omit<Answer, 'body'> {
  start: string;
  sharedLength: number;
}

/** Compares halves, as long texts: a character after the other takes ten times as long. */
const countShared = (body: string, text: string): number => {
  const end = text.length - 1;
  let [least, most] = [0, Math.min(body.length, end)];
  while (least < most) {
    const length = Math.ceil((least + most) / 2);
    if (body.slice(-length) === text.slice(end - length, end)) least = length;
    else most = length - 1;
  }
  return least;
};

/** Less of an answer is stored: half of PostgreSQL's work with it. */
const shorten = (call: IdempotentCall, { body, ...rest }: Answer): ShortAnswer => {
  const sharedLength = countShared(body, call.text);
  const start = body.slice(0, body.length - sharedLength);
  return { sharedLength, ...rest, start };
};

/** What the release before has stored as it is begins so, and by chance nothing that is sealed. */
const plainStart = Buffer.from('{"sharedLength":');

export type Seal = (call: IdempotentCall, answer: Answer) => Buffer;

/** Makes answers ready to be stored. */
export const createSeal =
  (mayKeep: (owner: string, bytes: number) => boolean): Seal =>
  (call, answer) => {
    const text = JSON.stringify(shorten(call, answer));
    const kept = mayKeep(call.owner, Buffer.byteLength(text));
    return sealUnder(sealingKey(call), kept ? text : JSON.stringify(call.tooLarge()));
  };

export const unseal = (call: IdempotentCall, stored: Buffer): Answer => {
  const isPlain = stored.subarray(0, plainStart.length).equals(plainStart);
  const bytes = isPlain ? stored : openUnder(sealingKey(call), stored);
  const kept: Answer | ShortAnswer = JSON.parse(bytes.toString('utf8'));
  // Those of earlier versions are whole.
  if ('body' in kept) return kept;
  const { start, sharedLength, ...rest } = kept;
  const end = call.text.length - 1;
  return { ...rest, body: start + call.text.slice(end - sharedLength, end) };
};
