import type { MailFields, MailValueField } from '@backlot/contract';
import Mustache from 'mustache';
import { defaultItems, maxMailBytes } from './bounds.ts';
import { TemplateProblem } from './problem.ts';

/** A `{{…}}` of a text, in the order in which they stand. */
export interface Tag {
  kind: 'value' | 'other';
  name: string;
  /** Of a value. */
  type?: MailValueField | undefined;
  start: number;
  /** Behind the last brace. */
  end: number;
}

/** What the library makes of a text: kind, name, start, end, and of a section what it holds and where that ends. */
type Token = [
  kind: string,
  name: string,
  start: number,
  end: number,
  inside?: Token[],
  insideEnd?: number,
];

/** A list may repeat each of them a hundred times. */
const maxTags = 500;

const writer = new Mustache.Writer();
// It keeps all texts that it has ever seen.
Reflect.set(writer, 'templateCache', undefined);

const readTokens = (source: string): Token[] => {
  try {
    return writer.parse(source) as Token[];
  } catch (error) {
    const [, text = 'is no template', at = '0'] =
      /^(.*?) at (\d+)$/s.exec(error instanceof Error ? error.message : '') ?? [];
    throw new TemplateProblem(text, Number(at));
  }
};

const refusedKinds: Record<string, string> = {
  '&': 'values are always escaped: write {{name}}, without a third brace and without &',
  '>': 'a template takes no other one in',
  '=': 'the braces stay as they are',
};

const findField = (name: string, scopes: readonly MailFields[]) => {
  const scope = scopes.find((fields) => Object.hasOwn(fields, name));
  return scope?.[name];
};
const isList = (field: MailFields[string]) => typeof field === 'object' && field.type === 'list';

/**
 * The tags of a text. Each names one of the fields, a list is no value, and none stands in another, so that what a
 * text grows to is bounded by the data.
 * @throws TemplateProblem
 */
export const readTags = (source: string, fields: MailFields): Tag[] => {
  const tags: Tag[] = [];
  const add = (tag: Tag) => {
    if (tags.push(tag) > maxTags)
      throw new TemplateProblem(`there are more than ${maxTags} tags`, tag.start);
  };
  const read = (tokens: readonly Token[], scopes: readonly MailFields[]): void => {
    for (const [kind, name, start, end, inside = [], insideEnd = end] of tokens) {
      if (kind === 'text') continue;
      const refusal = refusedKinds[kind];
      if (refusal !== undefined) throw new TemplateProblem(refusal, start);
      if (kind === '!') {
        add({ kind: 'other', name, start, end });
        continue;
      }
      const field = findField(name, scopes);
      if (field === undefined)
        throw new TemplateProblem(`{{${name}}} is none of its "fields"`, start);
      if (kind === 'name') {
        if (isList(field))
          throw new TemplateProblem(`"${name}" is a list: {{#${name}}}…{{/${name}}}`, start);
        add({ kind: 'value', name, type: field as MailValueField, start, end });
        continue;
      }
      const opensList = kind === '#' && typeof field === 'object' && field.type === 'list';
      if (opensList && scopes.length > 1)
        throw new TemplateProblem('a list can not stand in a list', start);
      if (opensList && (insideEnd - end) * (field.maxItems ?? defaultItems) > maxMailBytes)
        throw new TemplateProblem(
          `the list may repeat this to more than ${maxMailBytes} bytes: say a smaller maxItems`,
          start,
        );
      add({ kind: 'other', name, start, end });
      read(inside, opensList ? [field.fields, ...scopes] : scopes);
      add({ kind: 'other', name, start: insideEnd, end: source.indexOf('}}', insideEnd) + 2 });
    }
  };
  read(readTokens(source), [fields]);
  return tags;
};

/** @param write gets each value that is not missing */
export const fillIn = (source: string, view: object, write: (value: unknown) => string): string =>
  writer.render(source, view, undefined, { escape: write });
