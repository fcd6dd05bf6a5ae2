/** What every page of the documentation does in the browser; search and Try it are loaded when they are needed. */

const themes = ['system', 'light', 'dark'];
const root = document.documentElement;
const themeButton = document.querySelector('#theme-switch');

const showTheme = () => {
  themeButton.querySelector('span span').textContent = root.dataset.theme ?? 'system';
};
themeButton.addEventListener('click', () => {
  const at = themes.indexOf(root.dataset.theme ?? 'system');
  const theme = themes[(at + 1) % themes.length];
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === 'system') localStorage.removeItem('backlot theme');
    else localStorage.setItem('backlot theme', theme);
  } catch {
    // It then holds for this page alone.
  }
  showTheme();
});
showTheme();

/** Where a page may not write to the clipboard, as over HTTP, the code is selected instead. */
const copy = async (code) => {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return 'Copied';
  } catch {
    getSelection().selectAllChildren(code);
    return 'Selected';
  }
};

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('[data-copy]');
  if (!button) return;
  button.textContent = await copy(button.parentElement.querySelector('pre'));
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1500);
});

/** In which examples are shown, on all pages of this tab. */
const language = {
  get() {
    try {
      return sessionStorage.getItem('backlot docs language');
    } catch {
      return null;
    }
  },
  set(name) {
    try {
      sessionStorage.setItem('backlot docs language', name);
    } catch {
      // It then holds for this page alone.
    }
  },
};

for (const list of document.querySelectorAll('[role=tablist]')) {
  const tabs = [...list.querySelectorAll('[role=tab]')];
  const select = (chosen) => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = !isChosen;
    }
  };
  const kept = tabs.find(({ textContent }) => textContent === language.get());
  if (kept) select(kept);
  list.addEventListener('click', ({ target }) => {
    if (!tabs.includes(target)) return;
    select(target);
    language.set(target.textContent);
  });
  list.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    select(next);
    next.focus();
  });
}

document.querySelector('#docs-pages [aria-current]')?.scrollIntoView({ block: 'center' });
window.scrollTo(0, location.hash ? window.scrollY : 0);

const searchBox = document.querySelector('#search-box');

/** The box is there at once, so that what one types meanwhile goes into it. */
const openSearch = async () => {
  if (!searchBox.open) searchBox.showModal();
  searchBox.querySelector('input').select();
  try {
    const search = await import('./search.js');
    await search.showFound();
  } catch {
    searchBox.querySelector('[role=status]').textContent =
      'The search could not be loaded. Close this and try again.';
  }
};
document.querySelector('#search-open').addEventListener('click', openSearch);
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select');
  const isSlash =
    event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
  const isCommand = event.key === 'k' && (event.ctrlKey || event.metaKey);
  if (!isSlash && !isCommand) return;
  event.preventDefault();
  void openSearch();
});

if (document.querySelector('#try')) void import('./try-it.js');
