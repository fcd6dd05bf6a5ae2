import { createHash } from 'node:crypto';

/** A connection keeps each of them, with its plan. */
const maxNamedStatements = 300;
const maxSpecialStatements = 200;
const unnamed = '';

export interface NamedText {
  /** Empty where the statement is planned each time. */
  name: string;
  text: string;
}

/**
 * Names for prepared statements. Texts differ by the caller's rights and the parts of a patch: fewer than there are
 * names. Those that only some collections have (with indexes, unique fields, search, rules, a table of their own) are
 * more than anybody could keep: of these so many have names of their own, and the others are planned each time.
 * @param prefix says in PostgreSQL's views what a statement is for
 * @returns always the same text for equal ones, so that they are kept, compared and hashed once
 */
export const createStatementNames = (
  prefix: string,
): ((text: string, kind?: 'usual' | 'special') => NamedText) => {
  const named = new Map<string, NamedText>();
  const left = { usual: maxNamedStatements, special: maxSpecialStatements };
  return (text, kind = 'usual') => {
    const known = named.get(text);
    if (known) return known;
    if (left[kind] === 0) return { name: unnamed, text };
    left[kind] -= 1;
    // A connection knows each name once, whoever made it.
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
    const statement = { name: `${prefix}_${hash}`, text };
    named.set(text, statement);
    return statement;
  };
};
