// The project's owner sets this up once, and needs no other server:
//   curl -X PUT <host>/api/platform/projects/<id>/collections/cards \
//     -H "Authorization: Bearer <token>" --json '{"access": {"read": ["group"],
//       "create": ["group:owner", "group:admin", "group:member"],
//       "change": ["group:owner", "group:admin", "group:member"]}}'
import { createClient } from '/sdk.js';

const project = new URLSearchParams(location.search).get('project') ?? 'demo';
const client = createClient(`${location.origin}/api/runtime/${encodeURIComponent(project)}`);
const cards = client.db('cards');
const byId = (id) => document.getElementById(id);
const columns = { todo: 'To do', doing: 'Doing', done: 'Done' };
/** Who is in a team is asked for from time to time; cards come by themselves. */
const pollMs = 10_000;

let user = null;
let teams = [];
let team = null;
let names = new Map();
let shownCards = [];
let stopCards = () => {};

/** An element with its attributes and children; text is never read as HTML. */
const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};
const button = (label, onclick) => element('button', { type: 'button', onclick }, label);

const attempt = async (work) => {
  byId('problem').textContent = '';
  byId('notice').textContent = '';
  try {
    await work();
  } catch (error) {
    if (error.code === 'invalid_token') await client.auth.me();
    byId('problem').textContent = error.message;
  }
};

/** The rules say the same: hiding what is refused is a courtesy. */
const mayEdit = () => team.role !== 'viewer';

/** Shows at once, and goes back where the server refuses it. */
const move = (id, column) => attempt(() => cards.update(id, { data: { column } }));

const cardElement = (card) => {
  const others = Object.entries(columns).filter(([column]) => column !== card.column);
  const buttons = [
    ...others.map(([column, label]) => button(label, () => move(card.id, column))),
    button('Delete', () => attempt(() => cards.delete(card.id))),
  ];
  const item = element(
    'li',
    { className: 'card', draggable: mayEdit() },
    card.title,
    element('small', {}, names.get(card.ownerId) ?? 'somebody who has left'),
    element('div', { className: 'row' }, ...(mayEdit() ? buttons : [])),
  );
  item.addEventListener('dragstart', (event) => event.dataTransfer.setData('text/plain', card.id));
  return item;
};

const columnElement = ([column, label], items) => {
  const made = element(
    'section',
    { className: 'column' },
    element('h2', {}, `${label} (${items.length})`),
    element('ul', {}, ...items.map(cardElement)),
  );
  made.setAttribute('aria-label', label);
  made.addEventListener('dragover', (event) => {
    event.preventDefault();
    made.classList.add('over');
  });
  made.addEventListener('dragleave', () => made.classList.remove('over'));
  made.addEventListener('drop', (event) => {
    event.preventDefault();
    void move(event.dataTransfer.getData('text/plain'), column);
  });
  return made;
};

let shown = '';
const drawCards = () => {
  const state = JSON.stringify([shownCards, [...names], team.role]);
  if (state === shown) return;
  shown = state;
  const inColumn = (column) => shownCards.filter((card) => card.column === column);
  const made = Object.entries(columns).map((entry) => columnElement(entry, inColumn(entry[0])));
  byId('columns').replaceChildren(...made);
};

/** Told of the team's cards, and again after each change, by whoever. */
const watchCards = () => {
  shown = '';
  stopCards();
  // The team is gone, or one is not in it any more.
  const onError = () => void attempt(() => showTeams());
  stopCards = cards.live({ group: team.id, sort: 'createdAt', limit: 500, onError }, (items) => {
    shownCards = items;
    drawCards();
    if (items.some(({ ownerId }) => !names.has(ownerId))) void showMembers().catch(() => {});
  });
};

const showMembers = async () => {
  const { items } = await client.groups.members(team.id);
  names = new Map(items.map(({ id, name }) => [id, name ?? 'somebody']));
  team.role = items.find(({ id }) => id === user.id)?.role ?? team.role;
  byId('card').hidden = !mayEdit();
  const mayManage = team.role === 'owner' || team.role === 'admin';
  byId('invitation').hidden = !mayManage;
  const memberElement = ({ id, role }) => {
    const mayRemove = id === user.id ? role !== 'owner' : mayManage && role !== 'owner';
    const remove = button(id === user.id ? 'Leave' : 'Remove', () =>
      attempt(async () => {
        await client.groups.remove(team.id, id);
        await showTeams();
      }),
    );
    return element('li', {}, `${names.get(id)}, ${role} `, ...(mayRemove ? [remove] : []));
  };
  byId('member-list').replaceChildren(...items.map(memberElement));
  drawCards();
};

const showTeam = async (id) => {
  team = teams.find((candidate) => candidate.id === id) ?? null;
  byId('members').hidden = byId('board').hidden = team === null;
  stopCards();
  shownCards = [];
  if (team === null) return;
  byId('team-choice').value = team.id;
  await showMembers();
  watchCards();
};

const showTeams = async (id = team?.id) => {
  teams = (await client.groups.list()).items;
  byId('team-choice').replaceChildren(
    ...teams.map(({ id: value, name }) => element('option', { value }, name)),
  );
  await showTeam(teams.some((candidate) => candidate.id === id) ? id : teams[0]?.id);
};

const showUser = async (current) => {
  user = current;
  byId('account').hidden = user !== null;
  byId('who').hidden = byId('teams').hidden = user === null;
  byId('who-name').textContent = user ? (user.name ?? user.email) : '';
  if (user) return showTeams();
  stopCards();
  team = null;
  byId('members').hidden = byId('board').hidden = true;
};

const typed = (form) => JSON.stringify([...new FormData(form)]);

/** Empties the form once its work is done, unless something else was typed meanwhile. */
const onSubmit = (id, work) =>
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(async () => {
      const form = event.target;
      const done = work(form.elements, event.submitter);
      const before = typed(form);
      await done;
      if (typed(form) === before) form.reset();
      byId('team-choice').value = team?.id ?? '';
    });
  });

onSubmit('account', async ({ email, password, name }, submitter) => {
  const account = { email: email.value, password: password.value };
  const isNew = submitter?.value === 'signup';
  await showUser(
    isNew
      ? await client.auth.signUp({ ...account, name: name.value || undefined })
      : await client.auth.signIn(account),
  );
});
onSubmit('team', async ({ name }) => {
  const { id } = await client.groups.create(name.value);
  await showTeams(id);
});
onSubmit('invitation', async ({ email, role }) => {
  const invited = { email: email.value, role: role.value };
  const { email: to } = await client.groups.invite(team.id, invited);
  byId('notice').textContent = `A link to join has been sent to ${to}.`;
});
onSubmit('card', async ({ title }) => {
  const written = title.value;
  // It shows at once: what is typed next is another card.
  title.value = '';
  try {
    await cards.create({ title: written, column: 'todo' }, { groupId: team.id });
  } catch (error) {
    title.value ||= written;
    throw error;
  }
});
byId('team-choice').addEventListener('change', ({ target }) =>
  attempt(() => showTeam(target.value)),
);
byId('sign-out').addEventListener('click', () =>
  attempt(async () => {
    await client.auth.signOut();
    await showUser(null);
  }),
);

/** One look at a time. */
const poll = async () => {
  try {
    if (team && !document.hidden) await showMembers();
  } catch {
    // The team is gone, or one is not in it any more.
    if (user) await attempt(() => showTeams());
  }
  setTimeout(poll, pollMs);
};

await attempt(async () => showUser(await client.auth.me()));
void poll();
