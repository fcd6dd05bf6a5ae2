// What example pages share: the client of one project, elements, and a form to sign up and in.
import { createClient } from '/sdk.js';

export const project = new URLSearchParams(location.search).get('project') ?? 'demo';
export const client = createClient(`${location.origin}/api/runtime/${encodeURIComponent(project)}`);

/** An element with its attributes and children; text is never read as HTML. */
export const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};
export const button = (label, onclick, attributes = {}) =>
  element('button', { type: 'button', onclick: () => attempt(onclick), ...attributes }, label);

export const byId = (id) => document.getElementById(id);

/** Shows what went wrong where people look for it: what the server says is fit to be shown. */
export const attempt = async (work) => {
  byId('problem').textContent = '';
  try {
    await work();
  } catch (error) {
    // Forgets a token that is over.
    if (error.code === 'invalid_token') await client.auth.me();
    byId('problem').textContent = error.message;
  }
};

const typed = (form) => JSON.stringify([...new FormData(form)]);

/** Empties the form once its work is done, unless something else was typed meanwhile. */
export const onSubmit = (id, work) =>
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    const form = event.target;
    void attempt(async () => {
      const done = work(form.elements, event.submitter);
      const before = typed(form);
      await done;
      if (typed(form) === before) form.reset();
    });
  });

/** Signs in and out by the form `account`. @param show is told who is signed in, or null, at once and later */
export const keepAccount = async (show) => {
  const showAccount = async (user) => {
    byId('account').hidden = user !== null;
    byId('who').hidden = user === null;
    byId('who-name').textContent = user?.name ?? user?.email ?? '';
    await show(user);
  };
  onSubmit('account', async ({ email, password, name }, submitter) => {
    const account = { email: email.value, password: password.value };
    if (submitter?.value !== 'signup') await client.auth.signIn(account);
    else await client.auth.signUp({ ...account, ...(name?.value && { name: name.value }) });
  });
  byId('sign-out').addEventListener('click', () => attempt(() => client.auth.signOut()));
  client.auth.onChange((user) => attempt(() => showAccount(user)));
  await attempt(async () => showAccount(await client.auth.me()));
};

/** Looks again every two seconds while the page is seen; one look at a time. */
export const keepLooking = async (look) => {
  if (!document.hidden) await look().catch(() => {});
  setTimeout(() => void keepLooking(look), 2000);
};
