import type { Database } from '@backlot/database';

/**
 * Sorting and ranges rest on texts in jsonb comparing by code point, which is the database's matter.
 * @throws Error that says how the database has to be created
 */
export const checkTextOrder = async (database: Database): Promise<void> => {
  const [row] = await database.query<{ by_code_point: boolean }>(
    `SELECT '"B"'::jsonb < '"a"' AND '"z"'::jsonb < '"é"' AND '"a b"'::jsonb < '"aa"' AS by_code_point`,
  );
  if (row?.by_code_point) return;
  throw new Error(
    "The database has to sort texts by code point: create it with LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'.",
  );
};
