import { DomUtils, parseDocument } from 'htmlparser2';

/** Nothing of these is shown. */
const left = new Set(
  'script link meta base iframe frame object embed template noscript svg math'.split(' '),
);
const addresses = new Set('src srcset poster background action formaction ping'.split(' '));

export interface Shown {
  html: string;
  /** Of `<style>` elements. */
  sheets: string[];
  /** Of elements, by the number in their attribute `data-styled`. */
  styles: string[];
}

type Attributes = Readonly<Record<string, string>>;

const isOwnPicture = (address: string) =>
  address.startsWith('data:image/') ||
  URL.parse(address, location.href)?.origin === location.origin;

/** Without what would be fetched: the policy of the page refuses it, and says so in the browser's log. */
const keepHere = (css: string) =>
  css.replace(/@import[^;]*;?/gi, '').replace(/url\(\s*(?!["']?data:image\/)[^)]*\)/gi, 'none');

const readAttributes = (attributes: Attributes, styles: string[]): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'style') kept['data-styled'] = String(styles.push(keepHere(value)) - 1);
    // It says where it leads, and leads nowhere.
    else if (name === 'href' || name === 'xlink:href') kept.title = value.slice(0, 2000);
    else if (addresses.has(name) && !(name === 'src' && isOwnPicture(value))) continue;
    else if (!name.startsWith('on')) kept[name] = value;
  }
  return kept;
};

/**
 * A mail without what acts, and its styles apart from the rest: the policy of the page lets none in but those that
 * a script sets. The browser's own parser would judge them by that policy already.
 */
export const readHtml = (html: string): Shown => {
  const page = parseDocument(html);
  const sheets: string[] = [];
  const styles: string[] = [];
  for (const element of DomUtils.getElementsByTagName('*', page, true)) {
    if (element.name === 'style') sheets.push(keepHere(DomUtils.textContent(element)));
    if (element.name === 'style' || left.has(element.name)) DomUtils.removeElement(element);
    else element.attribs = readAttributes(element.attribs, styles);
  }
  return { html: DomUtils.getOuterHTML(page), sheets, styles };
};
