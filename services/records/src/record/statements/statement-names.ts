import { createHash } from 'node:crypto';

/** A connection keeps each of them, with its plan. */
const maxNamedStatements = 300;
const unnamed = '';

export interface NamedText {
  /** Empty where the statement is planned each time. */
  name: string;
  text: string;
}

/**
 * Names for prepared statements. Texts differ by the caller's rights and the parts of a patch: a few dozen in
 * all. With slots, and with rules for fields, there are more: those beyond a number are planned each time.
 * @param prefix says in PostgreSQL's views what a statement is for
 * @returns always the same text for equal ones, so that they are kept, compared and hashed once
 */
export const createStatementNames = (prefix: string): ((text: string) => NamedText) => {
  const named = new Map<string, NamedText>();
  return (text) => {
    const known = named.get(text);
    if (known) return known;
    if (named.size >= maxNamedStatements) return { name: unnamed, text };
    // A connection knows each name once, whoever made it.
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 16);
    const statement = { name: `${prefix}_${hash}`, text };
    named.set(text, statement);
    return statement;
  };
};
