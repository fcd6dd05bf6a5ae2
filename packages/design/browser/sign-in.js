/** The page to sign in for apps that have none. What it gets goes to the app as a code, and is kept nowhere here. */
import { createClient } from '/sdk.js';
import '/sdk-sign-in.js';

const byId = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const [project, returnTo, challenge] = ['project', 'returnTo', 'challenge'].map((name) =>
  query.get(name),
);

let token = null;
/** Until the page is left: what else this origin keeps is of others. */
const storage = {
  get: () => token,
  set(value) {
    token = value;
  },
};

const say = (...texts) =>
  byId('problem').replaceChildren(
    ...texts.filter(Boolean).map((text) => {
      const line = document.createElement('p');
      line.className = 'problem';
      line.textContent = text;
      return line;
    }),
  );

const showApp = async () => {
  const answer = await fetch(`/account/app/${encodeURIComponent(project)}`);
  const { name, url } = await answer.json();
  byId('app').textContent = name ?? '';
  byId('app-line').hidden = !name;
  if (name) document.title = `Sign in · ${name}`;
  byId('way-back').hidden = !url;
  if (!url) return;
  byId('back').href = url;
  byId('back').textContent = `Back to ${name ?? new URL(url).host}`;
  byId('back-host').textContent = new URL(url).host;
};

const showForm = (client) => {
  const form = document.createElement('backlot-sign-in');
  form.client = client;
  form.setAttribute('heading-level', '1');
  // Who comes to bring along what is a guest's would be another guest.
  if (query.has('merge')) form.setAttribute('can-be-guest', 'false');
  form.addEventListener('signed-in', async () => {
    try {
      const body = { returnTo, challenge };
      const { url } = await client.transport.call('POST', '/auth/handover', { body });
      location.replace(url);
    } catch ({ message, hint }) {
      say(message, hint);
    }
  });
  byId('title').remove();
  byId('form').append(form);
};

const begin = async () => {
  if (!project) return say('This address is incomplete: it names no project.');
  showApp().catch(() => {});
  if (!returnTo || !challenge)
    return say(
      'Nothing leads back from here. Open the app, and sign in there.',
      'For whoever makes the app: client.auth.openSignIn() leads to this page, and back.',
    );
  const base = `${location.origin}/api/runtime/${encodeURIComponent(project)}`;
  const client = createClient(base, { storage });
  try {
    await client.transport.call('GET', '/auth/handover', { query: { returnTo } });
  } catch ({ message, hint }) {
    return say(message, hint);
  }
  showForm(client);
};

void begin();
