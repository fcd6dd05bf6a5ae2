import type { ConfigProject, MailTemplateBody, ProjectDirectory } from '@backlot/contract';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import { type ConfigStore, namingEntry } from '@backlot/service';
import { appOrigins } from '../template-texts/app-origins.ts';
import { checkTemplate } from './check-template.ts';
import type { StoredTemplate, Templates } from './templates.ts';

export interface TemplatesConfigDeps {
  templates: Templates;
  projects: ProjectDirectory;
  publicUrl: string;
  /** Of what keeps a core busy: a template is checked. */
  turns: FairShares;
  now: () => number;
}

/** As `PUT …/mail-templates/<name>` takes it. */
const toEntry = ({ subject, html, text, sendTo, callers, fields }: StoredTemplate) => ({
  subject,
  html,
  ...(text !== undefined && { text }),
  // Account mails have fields and readers of their own.
  ...(sendTo !== null && { to: sendTo, callers, fields }),
});

/** Mail templates as a project's config has them. They may lead to origins that the same file allows. */
export const createTemplatesConfig = (deps: TemplatesConfigDeps): ConfigStore => {
  const { templates, projects, publicUrl, turns, now } = deps;

  const findApp = async ({ id, allowedOrigins }: ConfigProject) => {
    const { verifiedOrigins = [] } = (await projects.findProject(id)) ?? {};
    const settings = { allowedOrigins: [...allowedOrigins] };
    return appOrigins({ id, settings, verifiedOrigins }, publicUrl);
  };

  return {
    async read(projectNumber) {
      const all = await templates.listWhole(projectNumber);
      return Object.fromEntries(all.map((template) => [template.name, toEntry(template)]));
    },
    async setAll(project, entries) {
      const app = await findApp(project);
      const requester = toRequester({ project, ip: '' });
      for (const [name, entry] of entries)
        await namingEntry(`mailTemplates.${name}`, async () => {
          const template = await turns.run(requester, async () =>
            checkTemplate(name, entry as MailTemplateBody, app, now()),
          );
          await templates.set(project.number, template);
        });
    },
    async remove({ number }, names) {
      await templates.deleteAll(number, names);
      return [];
    },
  };
};
