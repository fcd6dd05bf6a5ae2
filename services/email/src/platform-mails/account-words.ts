import {
  type AccountTemplateName,
  ApiError,
  type OwnerDirectory,
  oneLine,
  type ProjectSnapshot,
  platformProject,
  showName,
} from '@backlot/contract';
import type { Logger } from '@backlot/telemetry';
import { checkOrigins } from '../mail-templates/check-template.ts';
import type { View } from '../mail-templates/data.ts';
import { renderWords, type Words } from '../mail-templates/render.ts';
import type { Templates } from '../mail-templates/templates.ts';
import { appOrigins } from '../template-texts/app-origins.ts';
import type { AccountNotice } from './account-notice.ts';
import { type AccountLink, until } from './templates.ts';

export interface AccountWordsDeps {
  templates: Templates;
  owners: OwnerDirectory;
  publicUrl: string;
  log: Pick<Logger, 'warn'>;
}

const toView = (fields: object): View => Object.assign(Object.create(null) as View, fields);

const linkView = ({ projectName, name, group, newEmail, code, url, expiresAt }: AccountLink) =>
  toView({
    app: projectName,
    name: showName(name, ''),
    link: url,
    until: until(expiresAt),
    team: showName(group?.name, 'a group'),
    inviter: showName(group?.invitedBy, 'somebody'),
    newEmail: oneLine(newEmail ?? ''),
    code: code ?? '',
  });

const noticeView = ({ projectName, name, at, device, network, detail }: AccountNotice) =>
  toView({
    app: projectName,
    name: showName(name, ''),
    at: until(at),
    device: oneLine(device ?? ''),
    network: network ?? '',
    detail: oneLine(detail ?? ''),
  });

/** What account mails of a project say where its owner has worded them. */
export const createAccountWords = ({ templates, owners, publicUrl, log }: AccountWordsDeps) => ({
  /**
   * Undefined where the usual words are to be sent: such mails go to addresses that anybody may enter, so that
   * an owner whose own is not verified words none; and words that can not be sent keep nobody from their link.
   */
  async find(
    project: ProjectSnapshot | null,
    name: AccountTemplateName,
    mail: AccountLink | AccountNotice,
  ): Promise<Words | undefined> {
    if (!project?.ownerId || project.id === platformProject.id) return undefined;
    const template = await templates.find(project.number, name);
    if (!template || !(await owners.isVerified(project.ownerId))) return undefined;
    try {
      checkOrigins(template, appOrigins(project, publicUrl));
      return renderWords(template, 'kind' in mail ? noticeView(mail) : linkView(mail));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const about = { project: project.id, template: template.name, reason: error.code };
      log.warn(about, 'an account mail went out in the usual words');
      return undefined;
    }
  },
});
