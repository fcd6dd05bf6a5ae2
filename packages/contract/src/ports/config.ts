import type { ErrorCode } from '../error-codes.ts';
import type { ConfigSectionName, ProjectConfig } from '../routes/projects/config-sections.ts';

/** An entry of a project's config as it is, and as it is to be; null where there is none. */
export interface ConfigChange {
  section: ConfigSectionName;
  name: string;
  from: unknown;
  to: unknown;
}

/** About whose config is asked. */
export interface ConfigProject {
  id: string;
  number: number;
  ownerId: string | null;
  /** The setting, as it will be. */
  allowedOrigins: readonly string[];
}

export interface ConfigAsking {
  project: ConfigProject;
  /** All of them or none; at most 12,000. */
  changes: readonly Omit<ConfigChange, 'from'>[];
  /** Undone at once: whether it can be done. */
  isTrial: boolean;
  /** The project is a copy: what calls others is off until its owner sets it. */
  isCopy?: boolean;
}

export interface ConfigOutcome {
  /** Why nothing has changed. */
  refused?: { code: ErrorCode; message: string; hint?: string };
  /** Entries that were to go and stay, because they have records. */
  left: readonly { section: ConfigSectionName; name: string }[];
}

/** Offered by each service that keeps what owners set. To apply the same changes again is harmless. */
export interface ConfigDirectory {
  /** Its sections, all of them. */
  readConfig(projectNumber: number): Promise<ProjectConfig>;
  applyConfig(asking: ConfigAsking): Promise<ConfigOutcome>;
}
