import { BacklotError } from './error.ts';
import { guesses, missing } from './guesses.ts';

/** In a sentence; undefined for what is like nothing that others have. */
const describeGuess = (group: string, name: string, isDb: boolean): string | undefined => {
  const known = missing.find(([groups, pattern]) => groups.test(group) && pattern.test(name));
  if (known) return `: ${known[2]}. The nearest is ${known[3]}.`;
  const calls = guesses.filter(([pattern]) => pattern.test(name)).map(([, call]) => call);
  // `client.db.todos`, as others name a collection.
  if (isDb && /^[a-z]+s$/.test(name)) calls.push(`db('${name}')`);
  const call = calls.find((own) => own.startsWith(group.split('(')[0] ?? '')) ?? calls[0];
  return call && `. Did you mean client.${call}?`;
};

/** Says which method is meant, and which there are, where somebody takes one that is not there. */
export const guided = <Group extends object>(group: string, methods: Group): Group =>
  new Proxy(methods, {
    get(target, key, receiver) {
      if (key in target || typeof key === 'symbol') return Reflect.get(target, key, receiver);
      const meant = describeGuess(group, key, typeof target === 'function');
      // What is like no guess stays undefined: libraries look for methods of theirs.
      if (meant === undefined) return undefined;
      const known = Object.keys(target).join(', ');
      throw new BacklotError(0, {
        code: 'no_such_method',
        error: `There is no ${group}.${key}${meant}${known && ` There are: ${known}.`}`,
      });
    },
  });
