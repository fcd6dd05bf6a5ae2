import { ApiError, emailRoutes, showProjectName } from '@backlot/contract';
import { hintHeader, type MountedRoute, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { accountSamples } from '../mail-templates/account-templates.ts';
import { checkOrigins, checkTemplate } from '../mail-templates/check-template.ts';
import type { Composer } from '../mail-templates/compose.ts';
import { readData } from '../mail-templates/data.ts';
import { renderWords } from '../mail-templates/render.ts';
import { presentTemplate, summarize, type Templates } from '../mail-templates/templates.ts';

export interface TemplateRoutesDeps {
  templates: Templates;
  composer: Composer;
  publicUrl: string;
  /** Epoch milliseconds. */
  now: () => number;
}

const advice =
  'Visitors of this project may send any words too, in its name: the setting {"mailContent": "templates"} leaves them the templates alone.';

const isOpen = ({ project }: Identity) => project.settings.mailContent === 'anything';

/** What visitors' mails say, as the owner words them. */
export const mailTemplateRoutes = ({
  templates,
  composer,
  publicUrl,
  now,
}: TemplateRoutesDeps): MountedRoute[] => [
  route(
    emailRoutes.setMailTemplate,
    async ({ params, body, identity }) => {
      const app = await composer.findApp(identity);
      const template = await composer.inTurn(identity, () =>
        checkTemplate(params.name, body, app, now()),
      );
      return {
        transact: async () => {
          await templates.set(identity.project.number, template);
          const hasAdvice = template.sendTo !== null && isOpen(identity);
          return {
            body: presentTemplate(template),
            ...(hasAdvice && { headers: { [hintHeader]: advice } }),
          };
        },
      };
    },
    { isSlow: true },
  ),
  /** A project has at most 100 of them, so that they are one page. */
  route(emailRoutes.listMailTemplates, async ({ identity }) => {
    const found = await templates.list(identity.project.number);
    const hasAdvice = isOpen(identity) && found.some(({ sendTo }) => sendTo !== null);
    return {
      body: {
        items: found.map(summarize),
        hasMore: false,
        nextCursor: null,
        ...(hasAdvice && { advice }),
      },
    };
  }),
  route(emailRoutes.getMailTemplate, async ({ params, identity }) => ({
    body: presentTemplate(await templates.get(identity.project.number, params.name)),
  })),
  route(emailRoutes.deleteMailTemplate, async ({ params, identity }) => {
    await templates.delete(identity.project.number, params.name);
    return { body: { ok: true as const } };
  }),
  route(emailRoutes.previewMailTemplate, async ({ params, body, identity }) => {
    const template = await templates.get(identity.project.number, params.name);
    const app = await composer.findApp(identity);
    checkOrigins(template, app);
    if (template.sendTo !== null) {
      const rules = { app, refusesLinks: false };
      const words = await composer.inTurn(identity, () =>
        renderWords(template, readData(template.fields, body.data ?? {}, rules)),
      );
      return { body: words };
    }
    if (body.data !== undefined)
      throw new ApiError('invalid_body', '"data": account mails are shown with samples.');
    const link = `${publicUrl}/account#sample`;
    const samples = accountSamples(showProjectName(identity.project), link);
    return { body: renderWords(template, Object.assign(Object.create(null), samples)) };
  }),
];
