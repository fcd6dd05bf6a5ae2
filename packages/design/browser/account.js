/** The page of links in mails. The link's token stands behind the #, so that no server's log and no Referer holds it. */

const byId = (id) => document.getElementById(id);
const actions = {
  verify: { title: 'Confirm your e-mail address', done: 'Your e-mail address is confirmed.' },
  reset: {
    title: 'Choose a new password',
    done: 'Your password is changed. You can sign in with it.',
  },
  join: { title: 'Join a team', done: 'You have joined. Go to the app and sign in.' },
  'sign-in': { title: 'Sign in', done: 'You are signed in in this browser.' },
  'change-email': {
    title: 'Change your e-mail address',
    done: 'Your e-mail address is changed. Sign in with the new one from now on.',
  },
};
const otherLink = 'Confirmed. Now follow the link in the mail to the other address.';

/** @returns what a link asks for, or undefined where it is not whole */
const readLink = (hash) => {
  const values = new URLSearchParams(hash.replace(/^.*#/s, '').trim());
  const action = Object.keys(actions).find((name) => values.get(name));
  const project = values.get('project');
  return action && project ? { action, project, token: values.get(action) } : undefined;
};

let link;
/** Of a sign-up that was done before joining was refused: it is not done again. */
let account;

/** With a proof of work where one is asked for. */
const call = async (path, body, token, proof) => {
  const answer = await fetch(`/api/runtime/${encodeURIComponent(link.project)}${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(proof && { 'Backlot-Proof': proof }),
    },
    body: JSON.stringify(body),
  });
  const { error, ...content } = await answer.json();
  if (answer.status === 428 && !proof) {
    const { solve } = await import('/sdk-proof.js');
    return call(path, body, token, await solve(content.challenge));
  }
  if (!answer.ok) throw Object.assign(new Error(error), { code: content.code });
  return content;
};

const explain = (error) =>
  error instanceof TypeError ? 'The server can not be reached. Try again.' : error.message;

const setTitle = (title, app) => {
  byId('title').textContent = title;
  document.title = app ? `${title} · ${app}` : title;
};

/** What others have named: signs in it that turn the direction of writing end with it. */
const isolated = (text) => {
  const name = document.createElement('bdi');
  name.textContent = text;
  return name;
};

/** Names the app, and where it is. */
const showApp = async ({ project, action }) => {
  const answer = await fetch(`/account/app/${encodeURIComponent(project)}`);
  const { name, url } = await answer.json();
  if (link?.project !== project) return;
  byId('app').textContent = name ?? '';
  byId('app-line').hidden = !name;
  setTitle(byId('title').textContent || actions[action].title, name);
  byId('way-back').hidden = !url;
  if (!url) return;
  byId('back').href = url;
  byId('back').textContent = `Back to ${name ?? new URL(url).host}`;
  byId('back-host').textContent = new URL(url).host;
};

/** Names the team and who invites; a link that is no longer good says so before anything is typed. */
const showInvitation = async (shown) => {
  const { token } = shown;
  try {
    const { group, role, invitedBy, expiresAt } = await call('/groups/invitation', { token });
    if (link !== shown) return;
    setTitle(`Join “${group.name}”`, byId('app').textContent);
    byId('invitation').replaceChildren(
      isolated(invitedBy ?? 'Somebody'),
      ' invites you to the team “',
      isolated(group.name),
      `”, as ${role}.`,
    );
    const until = byId('invitation-until');
    until.textContent = new Date(expiresAt).toLocaleDateString(undefined, { dateStyle: 'long' });
    until.dateTime = expiresAt;
    until.title = new Date(expiresAt).toLocaleString();
    byId('invitation-facts').hidden = false;
  } catch (error) {
    if (link !== shown) return;
    byId('problem').textContent = explain(error);
    if (error.code === 'invalid_link') byId('join').hidden = true;
  }
};

/** Nobody signs in before they have read as whom: the link may be of somebody else's mail. */
const showAddress = async (shown) => {
  try {
    const { email } = await call('/auth/code/link', { token: shown.token });
    if (link !== shown) return;
    byId('sign-in-as').replaceChildren(isolated(email));
    byId('sign-in').hidden = false;
  } catch (error) {
    if (link === shown) byId('problem').textContent = explain(error);
  }
};

const show = () => {
  link = readLink(location.hash);
  account = undefined;
  for (const id of [
    ...Object.keys(actions),
    'paste',
    'done',
    'way-back',
    'app-line',
    'invitation-facts',
  ])
    byId(id).hidden = true;
  byId('problem').textContent = '';
  byId('result').textContent = '';
  const { action } = link ?? {};
  setTitle(action ? actions[action].title : 'Your account');
  if (!action) {
    byId('problem').textContent = location.hash
      ? 'This link is incomplete. Copy all of it from the mail.'
      : '';
    byId('paste').hidden = false;
    return;
  }
  byId(action).hidden = action === 'sign-in';
  // Without it the page still does what the link is for.
  showApp(link).catch(() => {});
  if (action === 'join') void showInvitation(link);
  if (action === 'sign-in') void showAddress(link);
};

const finish = (action, text) => {
  history.replaceState(null, '', location.pathname);
  byId(action).hidden = true;
  byId('done').hidden = false;
  byId('result').textContent = `${text} You may close this page.`;
};

const onSubmit = (action, send) => {
  const form = byId(action);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = event.submitter ?? form.querySelector('button');
    button.disabled = true;
    byId('problem').textContent = '';
    try {
      const isWaiting = (await send(form.elements, button))?.changed === false;
      finish(action, isWaiting ? otherLink : actions[action].done);
    } catch (error) {
      byId('problem').textContent = explain(error);
    } finally {
      button.disabled = false;
    }
  });
};

onSubmit('verify', ({ password }) =>
  call('/auth/verify', { token: link.token, password: password.value }),
);
onSubmit('reset', ({ password }) =>
  call('/auth/reset', { token: link.token, password: password.value }),
);
onSubmit('change-email', ({ password }) =>
  call('/auth/change-email/confirm', { token: link.token, password: password.value }),
);
onSubmit('sign-in', async () => {
  const { token } = await call('/auth/code/verify', { token: link.token });
  if (!token)
    throw new Error('This account takes a second factor. Sign in in the app, with a new code.');
  // Where the client keeps it for apps of this origin, and the console for owners.
  const base = `${location.origin}/api/runtime/${encodeURIComponent(link.project)}`;
  localStorage.setItem(`backlot ${base}`, token);
});
onSubmit('join', async ({ email, password }, button) => {
  const body = { email: email.value, password: password.value };
  if (!account && button.value === 'signup') {
    account = await call('/auth/signup', { ...body, invitation: link.token });
    return;
  }
  account ??= await call('/auth/signin', body);
  await call('/groups/join', { token: link.token }, account.token);
});

byId('paste').addEventListener('submit', (event) => {
  event.preventDefault();
  const pasted = event.target.elements.link.value;
  if (readLink(pasted)) location.hash = pasted.replace(/^.*#/s, '').trim();
  else byId('problem').textContent = 'This is not the whole link. Copy all of it from the mail.';
});
// A link that is pasted over the address of this page changes only what is behind the #.
window.addEventListener('hashchange', show);
show();
