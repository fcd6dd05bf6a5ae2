import { ApiError, type MailFields, type MailValueField } from '@backlot/contract';
import type { AppOrigins } from '../template-texts/app-origins.ts';
import { defaultItems } from '../template-texts/bounds.ts';

type Rule = Exclude<MailValueField, string>;
/** Without a prototype: the language would look names up in it. */
export type View = Record<string, unknown>;

const defaultLength: Partial<Record<Rule['type'], number>> = { string: 200, text: 5000 };
const maxProblems = 10;
const maxUrlLength = 2000;

/** Turns the text around it. */
const turning = /[\u202A-\u202E\u2066-\u2069]/;
const outOfLine = /[\p{Cc}\u2028\u2029]/u;
const outOfText = /[^\P{Cc}\n\r\t]/u;
/** Of others, programs disagree where the host ends. */
const plainUrl = /^https?:\/\/[^\s\\]+$/i;
/** What mail programs make a link of; none has a space. */
const link = /\p{L}:\/\/|\bwww\.|[\p{L}\p{N}]@[\p{L}\p{N}]|[\p{L}\p{N}]\p{M}*[.\u3002]\p{L}{2}/iu;
const findLink = (text: string) =>
  text
    .normalize('NFKC')
    .split(/\s+/)
    .find((word) => link.test(word));

export interface DataRules {
  app: AppOrigins;
  /** Visitors send it to others: no text may lead away from the app. */
  refusesLinks: boolean;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toRule = (field: MailValueField): Rule =>
  typeof field === 'string' ? { type: field } : field;

const textProblem = (value: unknown, { type, maxLength, enum: only }: Rule, rules: DataRules) => {
  if (typeof value !== 'string') return 'must be a string';
  const max = maxLength ?? defaultLength[type] ?? maxUrlLength;
  if (value.length > max) return `may have at most ${max} characters`;
  if ((type === 'text' ? outOfText : outOfLine).test(value) || turning.test(value))
    return type === 'text'
      ? 'must be text without control and direction characters'
      : 'must be one line without control and direction characters';
  if (only && !only.includes(value)) return `must be one of ${only.join(', ')}`;
  const found = rules.refusesLinks ? findLink(value) : undefined;
  if (found !== undefined)
    return `has "${found.slice(0, 50)}", of which mail programs make a link: say it without`;
  return undefined;
};

const addressProblem = (value: unknown, rule: Rule, { app, ...rules }: DataRules) => {
  const problem = textProblem(value, rule, { ...rules, app, refusesLinks: false });
  if (problem !== undefined) return problem;
  const address = String(value);
  return plainUrl.test(address) && URL.canParse(address) && app.has(new URL(address))
    ? undefined
    : `must be an address of the app (${app.names.join(', ') || 'it has none'})`;
};

const valueProblem = (value: unknown, rule: Rule, rules: DataRules): string | undefined => {
  switch (rule.type) {
    case 'number':
      return typeof value === 'number' ? undefined : 'must be a number';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'id':
      return typeof value === 'string' && /^[\w-]{1,100}$/.test(value)
        ? undefined
        : 'must be 1 to 100 letters, digits, "_" and "-"';
    case 'url':
      return addressProblem(value, rule, rules);
    case 'string':
    case 'text':
      return textProblem(value, rule, rules);
  }
};

/** What the fields make of the data; what is wrong with it goes into `problems`, by name. */
const readFields = (
  fields: MailFields,
  data: Record<string, unknown>,
  at: string,
  rules: DataRules,
  problems: string[],
): View => {
  const view: View = Object.create(null);
  const say = (name: string, problem: string) => problems.push(`"${at}.${name}" ${problem}`);
  const isUnknown = (name: string) => !Object.hasOwn(fields, name);
  for (const name of Object.keys(data).filter(isUnknown).slice(0, maxProblems))
    say(
      name.slice(0, 50),
      `is none of the fields: ${Object.keys(fields).join(', ') || 'it has none'}`,
    );
  for (const [name, field] of Object.entries(fields)) {
    if (problems.length > maxProblems) return view;
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    if (value === undefined || value === null) {
      if (typeof field === 'string' || field.optional !== true) say(name, 'is missing');
    } else if (typeof field === 'object' && field.type === 'list') {
      const { fields: ofItem, maxItems = defaultItems } = field;
      if (!Array.isArray(value) || value.length > maxItems || !value.every(isRecord))
        say(name, `must be a list of at most ${maxItems} objects`);
      else
        view[name] = value.map((item, index) =>
          readFields(ofItem, item, `${at}.${name}.${index}`, rules, problems),
        );
    } else {
      const problem = valueProblem(value, toRule(field), rules);
      if (problem !== undefined) say(name, problem);
      view[name] = typeof value === 'string' ? value.replace(/\r\n?/g, '\n') : value;
    }
  }
  return view;
};

/** @throws ApiError invalid_body that names what is missing, unknown or wrong */
export const readData = (
  fields: MailFields,
  data: Record<string, unknown>,
  rules: DataRules,
): View => {
  const problems: string[] = [];
  const view = readFields(fields, data, 'data', rules, problems);
  if (problems.length === 0) return view;
  throw new ApiError('invalid_body', `${problems.slice(0, maxProblems).join('; ')}.`);
};
