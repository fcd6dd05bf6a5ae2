import { headLinks, markHref } from '@backlot/design';
import { Html, html } from '@backlot/http';

export interface DocsPage {
  path: string;
  title: string;
  /** Above the pages that it belongs to. */
  chapter: string;
  /** In the list of pages; an operation is shown while its group is open. */
  group?: string;
  method?: string;
  render(): { content: Html; sections?: readonly { id: string; title: string }[] };
}

const nothing = new Html('');

const link = ({ path, title, method }: DocsPage, current: DocsPage) =>
  html`<li><a href="${path}"${path === current.path ? new Html(' aria-current="page"') : nothing}>${title}${method ? html` <span class="method" data-method="${method}">${method}</span>` : nothing}</a></li>`;

/** Chapters with their pages; of the reference's groups only the open one has its operations below it. */
const sidebar = (pages: readonly DocsPage[], current: DocsPage): Html => {
  const shown = pages.filter(({ group, method }) => !method || group === current.group);
  const chapters = [...new Set(shown.map(({ chapter }) => chapter))];
  return html`${chapters.map((chapter) => {
    const links = shown
      .filter((page) => page.chapter === chapter)
      .map((page) => link(page, current));
    return html`<section><h2>${chapter}</h2><ul>${links}</ul></section>`;
  })}`;
};

const turn = (rel: 'prev' | 'next', page: DocsPage | undefined) =>
  page
    ? html`<a rel="${rel}" href="${page.path}"><span class="quiet-text">${rel === 'prev' ? 'Previous' : 'Next'}</span> ${page.title}</a>`
    : html`<span></span>`;

const onThisPage = (sections: readonly { id: string; title: string }[]) =>
  sections.length < 3
    ? nothing
    : html`<nav class="docs-contents" aria-label="On this page"><h2>On this page</h2><ul>${sections.map(
        ({ id, title }) => html`<li><a href="#${id}">${new Html(title)}</a></li>`,
      )}</ul></nav>`;

const searchDialog = html`<dialog id="search-box" class="dialog wide" aria-label="Search the documentation">
<div class="field"><label class="visually-hidden" for="search-words">Search guides and calls</label>
<input id="search-words" type="search" role="combobox" aria-expanded="false" aria-controls="search-results" aria-autocomplete="list" autocomplete="off" spellcheck="false" placeholder="Search guides and calls"></div>
<ul id="search-results" role="listbox" aria-label="Results"></ul>
<p id="search-state" class="quiet-text" role="status"></p>
</dialog>`;

/** A page of the documentation, whole. Scripts and styles stand in files, so that its policy is strict. */
export const renderPage = (
  pages: readonly DocsPage[],
  current: DocsPage,
  { assets, publicUrl }: { assets: string; publicUrl: string },
): string => {
  const { content, sections = [] } = current.render();
  const at = pages.indexOf(current);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${current.title} · Backlot docs</title>
${new Html(headLinks)}
<link rel="stylesheet" href="${assets}/docs.css">
<script src="${assets}/theme.js"></script>
<script type="module" src="${assets}/main.js"></script>
</head>
<body class="docs" data-assets="${assets}" data-host="${publicUrl}">
<a class="visually-hidden" href="#docs-content">Skip to the content</a>
<header class="topbar">
<button id="docs-menu" class="icon quiet" type="button" popovertarget="docs-pages" aria-label="Pages"><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M2 4h12M2 8h12M2 12h12" stroke="currentColor" stroke-width="1.5"/></svg></button>
<a class="brand" href="/"><img class="mark" src="${markHref}" alt="" width="24" height="24">Backlot</a>
<nav aria-label="Pages"><a href="/docs" aria-current="page">Docs</a><a href="/console/">Console</a></nav>
<button id="search-open" type="button" aria-haspopup="dialog"><span>Search</span> <kbd>/</kbd></button>
<button id="theme-switch" class="quiet" type="button">Theme<span class="docs-word">: <span>system</span></span></button>
</header>
<div class="docs-columns">
<nav id="docs-pages" class="docs-pages" popover aria-label="Documentation">${sidebar(pages, current)}</nav>
<main id="docs-content" tabindex="-1">${content}
<nav class="docs-turn" aria-label="Before and after">${turn('prev', pages[at - 1])}${turn('next', pages[at + 1])}</nav>
</main>
${onThisPage(sections)}
</div>
${searchDialog}
</body>
</html>
`.text;
};
