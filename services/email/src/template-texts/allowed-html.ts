/** What the HTML of a template may have: what mail programs show, and nothing that acts or leads elsewhere. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

export const allowedElements = words(`
  a abbr address article aside b big blockquote body br caption center cite code col colgroup dd del dfn div dl dt em
  figcaption figure font footer h1 h2 h3 h4 h5 h6 head header hr html i img ins kbd li main mark meta nav ol p pre q
  s samp section small span strike strong style sub sup table tbody td tfoot th thead time title tr tt u ul var wbr`);

const everywhere = words(`
  align bgcolor border cellpadding cellspacing class color colspan dir face height id lang nowrap role rowspan scope
  size span start style title type valign width aria-hidden aria-label aria-labelledby aria-describedby`);

const ofElement: Readonly<Record<string, ReadonlySet<string>>> = {
  a: words('href target rel name'),
  img: words('src alt'),
  meta: words('charset name content http-equiv'),
  time: words('datetime'),
};

export const isAllowedAttribute = (element: string, name: string): boolean =>
  everywhere.has(name) || (ofElement[element]?.has(name) ?? false);

/** Where values may stand beside texts. */
export const takesValues = words('alt title aria-label');

/** The others can lead away. */
export const allowedHttpEquiv = words('content-type x-ua-compatible');

/** What loads or could hide in a style. */
export const refusedInStyles = /@import|\b(url|src|expression|image-set|image)\s*\(|[\\<]/i;
