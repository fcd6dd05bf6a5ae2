import { type ConfigPlan, projectRoutes } from '@backlot/contract';
import { z } from 'zod';
import { defineTool, fits, type Tool, tooLarge } from './tool.ts';

const configPath = (projectId: string) => `/api/platform/projects/${projectId}/config`;

/** Checked by the call itself: its schema has a megabyte's worth of words for nobody. */
const config = z
  .record(z.string(), z.unknown())
  .describe(
    `As export_config answers it. Sections: ${projectRoutes.configSectionNames.join(', ')}; one that is left out stays as it is, an entry that a section leaves out goes (a collection with records stays).`,
  );

/** The words alone where whole prompts and rules are too much. */
const shorten = (text: string): string => {
  if (fits(text)) return text;
  const { changes, ...plan } = JSON.parse(text) as ConfigPlan;
  const words = JSON.stringify({ ...plan, changes: changes.map((change) => change.text) });
  if (fits(words)) return words;
  throw tooLarge('Too many changes: use the command: backlot plan, or send one section at a time.');
};

const exportConfig = defineTool({
  name: 'export_config',
  title: 'Export the config',
  description:
    'What the owner has set, as one file: collections with access, unique fields, search and indexes, settings, limits, prompts, products. No secrets.',
  scope: 'admin',
  isDestructive: false,
  input: z.strictObject({
    section: z.enum(projectRoutes.configSectionNames).optional().describe('Only this one'),
  }),
  async run({ section }, { projectId, call }) {
    const text = await call('GET', configPath(projectId));
    const all = JSON.parse(text) as Record<string, unknown>;
    const asked = section === undefined ? text : JSON.stringify({ [section]: all[section] ?? {} });
    if (fits(asked)) return asked;
    throw tooLarge('Ask for one "section", or use the command: backlot export.');
  },
});

const planConfig = defineTool({
  name: 'plan_config',
  title: 'Plan a change of the config',
  description:
    'Answers in words what apply_config would change, and the "etag" that it takes. Changes nothing.',
  scope: 'admin',
  isDestructive: false,
  input: z.strictObject({ config }),
  run: async ({ config: wanted }, { projectId, call }) =>
    shorten(await call('PUT', `${configPath(projectId)}?dryRun=1`, wanted)),
});

const applyConfig = defineTool({
  name: 'apply_config',
  title: 'Apply a config',
  description:
    'Makes the project as the file says, whole or not at all. Call plan_config first, show its words, and send its "etag": what was planned is applied, or nothing.',
  scope: 'admin',
  isDestructive: true,
  input: z.strictObject({ config, etag: z.string().max(100).describe('Of plan_config') }),
  run: async ({ config: wanted, etag }, { projectId, call }) =>
    shorten(await call('PUT', configPath(projectId), wanted, { 'if-match': etag })),
});

export const configTools: readonly Tool[] = [exportConfig, planConfig, applyConfig];
