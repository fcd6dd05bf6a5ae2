import type {
  ConfigAsking,
  ConfigDirectory,
  ConfigOutcome,
  ConfigSectionName,
} from '@backlot/contract';

export interface FakePart extends ConfigDirectory {
  /** Of the projects, by section and name: what was applied. */
  kept: Map<number, Record<string, Record<string, unknown>>>;
  /** Before each application, trials too: what it refuses with, if anything. */
  onApply: (asking: ConfigAsking) => Promise<ConfigOutcome['refused']>;
  /** After each that was kept. */
  onApplied: (asking: ConfigAsking) => Promise<unknown>;
  /** `<section>.<name>` of what does not go. */
  hasRecords: Set<string>;
}

/** Another service's part of a project's config, in memory. */
const createFakePart = (sections: readonly ConfigSectionName[]): FakePart => {
  const keptBy = (projectNumber: number) => {
    const empty: Record<string, Record<string, unknown>> = Object.fromEntries(
      sections.map((section) => [section, {}]),
    );
    const entries = part.kept.get(projectNumber) ?? empty;
    part.kept.set(projectNumber, entries);
    return entries;
  };
  const part: FakePart = {
    kept: new Map(),
    onApply: async () => undefined,
    onApplied: async () => {},
    hasRecords: new Set(),
    readConfig: async (projectNumber) => structuredClone(keptBy(projectNumber)),
    async applyConfig(asking) {
      const refused = await part.onApply(asking);
      if (refused) return { refused, left: [] };
      const isLeft = ({ section, name, to }: ConfigAsking['changes'][number]) =>
        to === null && part.hasRecords.has(`${section}.${name}`);
      const left = asking.changes.filter(isLeft).map(({ section, name }) => ({ section, name }));
      if (asking.isTrial) return { left };
      const entries = keptBy(asking.project.number);
      for (const change of asking.changes.filter((one) => !isLeft(one))) {
        const ofSection: Record<string, unknown> = entries[change.section] ?? {};
        if (change.to === null) delete ofSection[change.name];
        else ofSection[change.name] = change.to;
      }
      await part.onApplied(asking);
      return { left };
    },
  };
  return part;
};

export type FakeParts = ReturnType<typeof createFakeParts>;

export const createFakeParts = () => ({
  recordsConfig: createFakePart(['collections']),
  aiConfig: createFakePart(['prompts']),
  emailConfig: createFakePart(['mailTemplates']),
  paymentsConfig: createFakePart(['products', 'onPaid']),
});
