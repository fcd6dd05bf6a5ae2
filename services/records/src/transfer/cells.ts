/**
 * Texts as cells of CSV that no spreadsheet takes for a formula, and back again: those that would begin one get an
 * apostrophe, and so do those that have some before it already.
 */

/** What begins a formula, in any width (OWASP, "CSV Injection"). */
const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

export const defuse = (text: string): string => (formula.test(text) ? `'${text}` : text);

export const undefuse = (text: string): string =>
  text.startsWith("'") && formula.test(text) ? text.slice(1) : text;

/** The column that holds what of a record no other column does, as a JSON object. */
export const restColumn = '_rest';

/** The record's own columns, which come first. */
export const ownColumns = ['id', 'ownerId', 'groupId', 'createdAt', 'updatedAt'] as const;
