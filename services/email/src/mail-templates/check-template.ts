import { ApiError, type MailTemplateBody } from '@backlot/contract';
import { type AppOrigins, originHint } from '../template-texts/app-origins.ts';
import { checkHtml } from '../template-texts/html-rules.ts';
import { readTags } from '../template-texts/language.ts';
import { explainProblems } from '../template-texts/problem.ts';
import { accountFields, accountSamples, isAccountTemplate } from './account-templates.ts';
import { renderWords, type Words } from './render.ts';
import type { StoredTemplate } from './templates.ts';

const invalid = (message: string, hint?: string) =>
  new ApiError('invalid_body', message, hint === undefined ? {} : { hint });

/** Account mails go where the platform sends them, with what it knows. */
const checkAccountBody = (name: string, body: MailTemplateBody) => {
  for (const field of ['to', 'callers', 'fields'] as const)
    if (body[field] !== undefined)
      throw invalid(`"${field}" is given for "${name}", which words mails of accounts.`);
};

/** Whoever gets it: without the link nobody could do what the mail is for. */
const checkSaysLink = (name: string, words: Words) => {
  const link = 'https://link.example/account';
  const samples = accountSamples('App', link);
  for (const known of [samples, { ...samples, name: undefined }]) {
    const filled = renderWords(words, Object.assign(Object.create(null), known));
    for (const part of ['html', 'text'] as const)
      if (filled[part] !== undefined && !filled[part].includes(link))
        throw invalid(`"${part}": "${name}" has to say {{link}}, whoever gets it.`);
  }
};

/**
 * A template as it is stored.
 * @param now epoch milliseconds
 * @throws ApiError invalid_body that names the part, the place and what may not stand there
 */
export const checkTemplate = (
  name: string,
  body: MailTemplateBody,
  app: AppOrigins,
  now: number,
): StoredTemplate => {
  const isAccount = isAccountTemplate(name);
  if (isAccount) checkAccountBody(name, body);
  const sendTo = isAccount ? null : body.to;
  if (sendTo === undefined)
    throw invalid('"to" is missing: "caller", "owner" or "anyone" says who gets such mails.');
  const fields = isAccount ? accountFields[name] : (body.fields ?? {});
  const read = (part: 'subject' | 'html' | 'text', allowed = fields) => {
    const source = body[part] ?? '';
    return explainProblems(part, source, () => readTags(source, allowed));
  };
  // Lists of mails show subjects as they are.
  const { link: _link, ...withoutLink } = fields;
  read('subject', isAccount ? withoutLink : fields);
  read('text');
  const tags = read('html');
  const leadsTo = explainProblems('html', body.html, () => checkHtml(body.html, tags, app));
  const origins = leadsTo.filter((origin) => app.names.includes(origin));
  const { subject, html, text, callers = ['users'] } = body;
  if (isAccount && 'link' in fields) checkSaysLink(name, { subject, html, text });
  const updatedAt = new Date(now);
  return { name, subject, html, text, sendTo, callers, fields, origins, updatedAt };
};

/** @throws ApiError conflict where its words lead to an origin that is the app's no more */
export const checkOrigins = ({ name, origins }: StoredTemplate, app: AppOrigins): void => {
  const gone = origins.find((origin) => !app.names.includes(origin));
  if (gone !== undefined)
    throw new ApiError(
      'conflict',
      `The mail template "${name}" leads to ${gone}, which is no origin of the app any more.`,
      { hint: originHint },
    );
};
