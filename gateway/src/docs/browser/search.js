/** Search over guides, rules and calls: the index is one file, read when somebody first searches. */

const dialog = document.querySelector('#search-box');
const field = document.querySelector('#search-words');
const list = document.querySelector('#search-results');
const state = document.querySelector('#search-state');
const maxShown = 20;
const maxWords = 8;

/** What people call it elsewhere. */
const otherWords = new Map(
  Object.entries({
    login: 'sign in',
    logout: 'sign out',
    register: 'sign up',
    realtime: 'live',
    websocket: 'live',
    upsert: 'replace',
    query: 'list',
    table: 'collection',
    row: 'record',
    document: 'record',
    bucket: 'files',
    image: 'file',
    team: 'group',
    organization: 'group',
    billing: 'payments',
    llm: 'ai',
    quota: 'limit',
    throttle: 'limit',
    permission: 'access',
  }),
);

const toWords = (text) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter(Boolean);

/** One letter more, less, other, or two that changed places. */
const isOneSlip = (a, b) => {
  if (a.length > b.length) return isOneSlip(b, a);
  if (b.length - a.length > 1 || a === b) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  if (a.length < b.length) return a.slice(at) === b.slice(at + 1);
  const isSwap = a[at] === b[at + 1] && a[at + 1] === b[at];
  return a.slice(at + (isSwap ? 2 : 1)) === b.slice(at + (isSwap ? 2 : 1));
};

/** Shorter words are one slip from too many others. */
const leastSlipLetters = 4;

/** The known words that may have been meant by one that no entry has. */
const meantBy = (all, word) => {
  if (word.length < leastSlipLetters || all.some(({ allText }) => allText.includes(word)))
    return [];
  const known = new Set([...otherWords.keys(), ...all.flatMap((one) => toWords(one.allText))]);
  return [...known].filter((other) => isOneSlip(word, other));
};

let entries;
let reading;
const readIndex = async () => {
  const answer = await fetch(`${document.body.dataset.assets}/search.json`);
  if (!answer.ok) throw new Error(`The index answered ${answer.status}.`);
  const found = await answer.json();
  return found.map((entry) => ({
    ...entry,
    titleText: ` ${toWords(entry.title).join(' ')}`,
    idText: entry.path.split('/').at(-1).toLowerCase(),
    allText: ` ${toWords(`${entry.title} ${entry.within} ${entry.text}`).join(' ')}`,
  }));
};

/** 0 where the entry has not the word. */
const scoreWord = ({ titleText, idText, allText }, word) => {
  if (titleText.includes(` ${word}`)) return titleText === ` ${word}` ? 40 : 20;
  if (idText.includes(word)) return 12;
  if (allText.includes(` ${word}`)) return 4;
  return allText.includes(word) ? 1 : 0;
};

const score = (entry, words) => {
  let sum = 0;
  for (const alternatives of words) {
    const points = Math.max(
      ...alternatives.map((other) =>
        Math.min(...toWords(other).map((one) => scoreWord(entry, one))),
      ),
    );
    if (points === 0) return 0;
    sum += points;
  }
  return sum - entry.titleText.length / 100;
};

export const find = (all, text) => {
  const words = toWords(text)
    .slice(0, maxWords)
    .map((word) => [word, ...meantBy(all, word)])
    .map((same) => [...same, ...same.flatMap((word) => otherWords.get(word) ?? [])]);
  if (words.length === 0) return [];
  return all
    .map((entry) => [score(entry, words), entry])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a)
    .slice(0, maxShown)
    .map(([, entry]) => entry);
};

const options = () => [...list.children];
const selected = () => list.querySelector('[aria-selected=true]');
const select = (option) => {
  selected()?.setAttribute('aria-selected', 'false');
  option?.setAttribute('aria-selected', 'true');
  option?.scrollIntoView({ block: 'nearest' });
  if (option) field.setAttribute('aria-activedescendant', option.id);
  else field.removeAttribute('aria-activedescendant');
};

const go = (option) => {
  if (!option) return;
  dialog.close();
  location.assign(option.dataset.path);
};

const toOption = ({ path, title, within, method }, index) => {
  const option = document.createElement('li');
  option.id = `result-${index}`;
  option.setAttribute('role', 'option');
  option.setAttribute('aria-selected', 'false');
  option.className = 'menu-item';
  option.dataset.path = path;
  const name = document.createElement('span');
  name.textContent = title;
  const where = document.createElement('span');
  where.className = 'quiet-text';
  where.textContent = method ? `${method} · ${within}` : within;
  option.append(name, where);
  option.addEventListener('click', () => go(option));
  option.addEventListener('pointermove', () => select(option));
  return option;
};

const show = () => {
  if (!entries) return;
  const found = find(entries, field.value);
  list.replaceChildren(...found.map(toOption));
  field.setAttribute('aria-expanded', String(found.length > 0));
  const hasWords = field.value.trim() !== '';
  state.textContent =
    found.length > 0
      ? `${found.length} found`
      : hasWords
        ? 'Nothing has all of these words.'
        : 'Guides, rules, calls, fields and error codes.';
  select(options()[0]);
};

// An index that could not be read is asked for again; what the box says meanwhile still holds.
field.addEventListener('input', () => void showFound().catch(() => {}));
field.addEventListener('keydown', (event) => {
  const all = options();
  const at = all.indexOf(selected());
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (to !== undefined && all.length > 0) {
    event.preventDefault();
    select(all[(to + all.length) % all.length]);
  }
  if (event.key === 'Enter') {
    event.preventDefault();
    go(selected());
  }
});
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog) dialog.close();
});

/** @throws Error where the index can't be read */
export const showFound = async () => {
  if (!entries) {
    reading ??= readIndex().finally(() => {
      reading = undefined;
    });
    entries = await reading;
  }
  show();
};
