import { Parser } from 'htmlparser2';
import { addressProblem, originIn } from './addresses.ts';
import {
  allowedElements,
  allowedHttpEquiv,
  isAllowedAttribute,
  refusedInStyles,
  takesValues,
} from './allowed-html.ts';
import type { AppOrigins } from './app-origins.ts';
import type { Tag } from './language.ts';
import { createMarkers, type Markers } from './markers.ts';
import { TemplateProblem } from './problem.ts';

const maxElements = 3000;

const isAddress = (name: string) => name === 'href' || name === 'src';
const styleProblem = (css: string) =>
  refusedInStyles.test(css) ? 'a style may name no address, and have no backslash' : undefined;

interface Attribute {
  element: string;
  name: string;
  value: string;
  isQuoted: boolean;
}

const attributeProblem = (
  { element, name, value, isQuoted }: Attribute,
  markers: Markers,
  app: AppOrigins,
): string | undefined => {
  if (!isAllowedAttribute(element, name))
    return `<${element}> may not have the attribute "${markers.show(name)}" in a mail`;
  if (name === 'http-equiv' && !allowedHttpEquiv.has(value.toLowerCase()))
    return '<meta http-equiv> may say Content-Type alone';
  if (name === 'style') return styleProblem(value);
  if (!isAddress(name)) return undefined;
  return isQuoted
    ? addressProblem(name, value, markers, app)
    : `${name} needs quotes around its address`;
};

/** Values that stay text there; no section may begin or end within an element. */
const valuesIn = ({ name, value, isQuoted }: Attribute, markers: Markers): Tag[] => {
  if (!isQuoted || !(isAddress(name) || takesValues.has(name))) return [];
  return markers.find(value).filter(({ kind, type }) => {
    const isText = type === 'text' || (typeof type === 'object' && type.type === 'text');
    return kind === 'value' && !isText;
  });
};

/** A parser would take what follows for the name of an element. */
const opensElement = (source: string, { start }: Tag) =>
  /<[/!?]?-*$/.test(source.slice(Math.max(0, start - 5), start));

/**
 * Checks the HTML of a template as it stands, its tags within it: they stand where values stay text and sections
 * hold whole elements and texts, so that what is filled in needs no second look.
 * @returns the origins to which it leads
 * @throws TemplateProblem
 */
export const checkHtml = (source: string, tags: readonly Tag[], app: AppOrigins): string[] => {
  const markers = createMarkers(source, tags);
  const placed = new Set<Tag>();
  const origins = new Set<string>();
  let elements = 0;
  let element = '';
  let isWithinTag = false;
  let style: string | undefined;
  const refuse = (message: string | undefined) => {
    if (message !== undefined) throw new TemplateProblem(message, Math.max(0, parser.startIndex));
  };
  const parser: Parser = new Parser({
    onopentagname(name) {
      if (!allowedElements.has(name)) refuse(`<${markers.show(name)}> may not stand in a mail`);
      if (++elements > maxElements) refuse(`there are more than ${maxElements} elements`);
      element = name;
      isWithinTag = true;
      if (name === 'style') style = '';
    },
    onopentag() {
      isWithinTag = false;
    },
    onattribute(name, value, quote) {
      const attribute = { element, name, value, isQuoted: quote === '"' || quote === "'" };
      refuse(attributeProblem(attribute, markers, app));
      for (const tag of valuesIn(attribute, markers)) placed.add(tag);
      const origin = isAddress(name) ? originIn(value, markers) : undefined;
      if (origin !== undefined) origins.add(origin);
    },
    ontext(text) {
      if (style !== undefined) style += text;
      else for (const tag of markers.find(text)) placed.add(tag);
    },
    onclosetag(name) {
      if (name !== 'style' || style === undefined) return;
      refuse(styleProblem(style));
      style = undefined;
    },
    oncomment: () => refuse('comments of HTML may not stand in a mail: write {{! … }}'),
    onprocessinginstruction(name) {
      if (name.toLowerCase() !== '!doctype') refuse(`<${name}> may not stand in a mail`);
    },
  });
  parser.end(markers.text);
  // The parser leaves it out; what a mail program makes of it is not known.
  if (isWithinTag) refuse('the element has no end');
  const misplaced = tags.find((tag) => !placed.has(tag) || opensElement(source, tag));
  if (misplaced)
    throw new TemplateProblem(
      `{{${misplaced.name}}} can not stand here: values stand in texts, and in quotes as alt, title or an address, sections around whole elements and texts`,
      misplaced.start,
    );
  return [...origins];
};
