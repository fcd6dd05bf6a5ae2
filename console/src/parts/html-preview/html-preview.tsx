import { useMemo } from 'react';
import './html-preview.css';
import { readHtml, type Shown } from './read-html.ts';

const pageStyle =
  'body { margin: 16px; font: 16px/1.5 sans-serif; overflow-wrap: anywhere } img { max-width: 100% } a { color: #2456c4; text-decoration: underline }';

const dress = (frame: HTMLIFrameElement, { sheets, styles }: Shown) => {
  const page = frame.contentDocument;
  const view = page?.defaultView;
  if (!page || !view) return;
  page.adoptedStyleSheets = [pageStyle, ...sheets].map((text) => {
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  for (const element of page.querySelectorAll<HTMLElement>('[data-styled]'))
    element.style.cssText = styles[Number(element.dataset.styled)] ?? '';
};

/** HTML of others as it looks: no script of it runs, no link of it leads away, nothing is fetched from elsewhere. */
export const HtmlPreview = ({ title, html }: { title: string; html: string }) => {
  const shown = useMemo(() => readHtml(html), [html]);
  return (
    <iframe
      className="html-preview"
      title={title}
      // Not `allow-scripts`: the page outside sets the styles.
      sandbox="allow-same-origin"
      srcDoc={shown.html}
      onLoad={({ currentTarget }) => dress(currentTarget, shown)}
    />
  );
};
