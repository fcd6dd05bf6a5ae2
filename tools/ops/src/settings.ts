/** Of the role that migrates. @throws Error where it is not set */
export const databaseUrl = (): string => {
  const url = process.env.DATABASE_URL;
  if (!url) throw new Error('DATABASE_URL is not set: the address of the role that migrates.');
  return url;
};
