import { createClient } from '/sdk.js';
import { attempt, button, byId, element, onSubmit, project } from './backend.js';
import { setUp } from './rules.js';

// The owner's token opens the whole project: it is kept nowhere.
let token = null;
const storage = {
  get: () => token,
  set(value) {
    token = value;
  },
};
const platform = createClient(`${location.origin}/api/runtime/platform`, { storage });

const control = async (method, path, body) => {
  const answer = await fetch(`/api/platform/projects/${encodeURIComponent(project)}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = await answer.json();
  if (!answer.ok) throw new Error(json.error);
  return json;
};

const showUsers = async () => {
  const { items } = await control('GET', '/users?limit=100');
  const userElement = ({ id, email, role }) => {
    const [label, next] = role === 'staff' ? ['Take the role', 'user'] : ['Make staff', 'staff'];
    const change = button(label, async () => {
      await control('PATCH', `/users/${id}`, { role: next });
      await showUsers();
    });
    return element('li', {}, `${email}, ${role} `, change);
  };
  byId('users').replaceChildren(...items.map(userElement));
};

onSubmit('owner', async ({ email, password }) => {
  await platform.auth.signIn({ email: email.value, password: password.value });
  await showUsers();
  byId('owner').hidden = true;
  byId('main').hidden = false;
});

byId('set-up').addEventListener('click', () =>
  attempt(async () => {
    for (const call of setUp) await control(...call);
    byId('done').textContent = 'The shop is ready.';
  }),
);

byId('rules').textContent = setUp
  .map(([method, path, body]) => `${method} …${path}\n${JSON.stringify(body, null, 2)}`)
  .join('\n\n');
for (const link of document.querySelectorAll('a.page')) link.search = location.search;
