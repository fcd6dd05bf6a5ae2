/**
 * Ignoring case: as Unicode's full case folding has it (`ß` is `ss`, `ς` is `σ`), and with one `i`, with and without a
 * dot, so that each text is the same as it is in upper and in lower case. The database and this process agree.
 */
export const foldCase = (text: string): string =>
  text
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('ı', 'i')
    .replaceAll('i\u0307', 'i');

/** The same of an expression. Both sides of what compares have to be folded. */
export const foldCaseSql = (text: string): string =>
  `replace(replace(casefold(${text} COLLATE pg_catalog.pg_unicode_fast), 'ı', 'i'), U&'i\\0307', 'i')`;
