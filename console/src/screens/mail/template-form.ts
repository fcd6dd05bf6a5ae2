import type { Answer, Input } from '../../api/operation-types.ts';

type Template = Answer<'getMailTemplate'>;
type Body = Input<'setMailTemplate'>['body'];

/** A template as it stands in the fields of the form. */
export interface TemplateForm {
  name: string;
  subject: string;
  html: string;
  text: string;
  to: 'caller' | 'owner' | 'anyone';
  callers: string;
  fields: string;
}

export const accountNames = [
  'account.verify',
  'account.reset',
  'account.invite',
  'account.change-email',
  'account.allow-change',
  'account.new-device',
  'account.password-changed',
  'account.factor-added',
  'account.factor-removed',
  'account.passkey-added',
  'account.passkey-removed',
  'account.identity-linked',
  'account.identity-removed',
  'account.code',
] as const;

/** Words of the platform's own mails: whom they go to and their fields are given. */
export const isOfAccounts = (name: string): boolean => name.startsWith('account.');

export const newTemplate: TemplateForm = {
  name: '',
  subject: 'Your order {{number}}',
  html: '<p>Dear {{name}},</p>\n<p>we have your order {{number}} and send it today.</p>',
  text: '',
  to: 'caller',
  callers: 'users',
  fields: '{\n  "name": "string",\n  "number": "id"\n}',
};

export const toForm = ({
  name,
  subject,
  html,
  text,
  to,
  callers,
  fields,
}: Template): TemplateForm => ({
  name,
  subject,
  html,
  text: text ?? '',
  to: to ?? 'caller',
  callers: (callers ?? ['users']).join(', '),
  fields: JSON.stringify(fields, null, 2),
});

/** Of a template as it was read: what sets it again. */
export const toBody = ({ name, subject, html, text, to, callers, fields }: Template): Body => ({
  subject,
  html,
  ...(text && { text }),
  ...(!isOfAccounts(name) && { to, fields, ...(callers && { callers }) }),
});

const parseFields = (text: string): Body['fields'] => {
  try {
    return JSON.parse(text || '{}');
  } catch {
    throw new Error('The fields have to be JSON, such as {"name": "string"}.');
  }
};

/** @throws Error that says which field is not well formed */
export const fromForm = (form: TemplateForm): Body => ({
  subject: form.subject,
  html: form.html,
  ...(form.text.trim() && { text: form.text }),
  ...(!isOfAccounts(form.name) && {
    to: form.to,
    callers: form.callers.split(/[\s,]+/).filter((word) => word !== ''),
    fields: parseFields(form.fields),
  }),
});

const samples: Readonly<Record<string, unknown>> = {
  text: 'First line\nSecond line',
  number: 3,
  boolean: true,
  id: 'sample-1',
  url: location.origin,
};

/** Something for each field, so that there is something to see. */
export const sampleData = (fields: Template['fields']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const whole = typeof field === 'string' ? { type: field } : field;
      if (whole.type === 'list')
        return [name, [sampleData((whole as { fields: Template['fields'] }).fields)]];
      const { enum: values } = whole as { enum?: string[] };
      return [name, values?.[0] ?? samples[whole.type] ?? `<${name}>`];
    }),
  );
