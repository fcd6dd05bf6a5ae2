import type { Database } from '@backlot/database';

/** Undoes a mail that is for nobody, and nothing else. */
class ForNobody extends Error {
  override readonly name = 'ForNobody';
}

/** Writes a mail, and undoes that where it is for nobody: both cost the same. Belongs into a transaction. */
export const writeMail = async (
  database: Database,
  isForSomebody: boolean,
  write: () => Promise<unknown>,
): Promise<void> => {
  const mail = database.transaction(async () => {
    await write();
    if (!isForSomebody) throw new ForNobody();
  });
  await mail.catch((error: unknown) => {
    if (!(error instanceof ForNobody)) throw error;
  });
};
