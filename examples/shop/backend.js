// The backend of this shop: every call goes to the API of one project.
const parameters = new URLSearchParams(location.search);
export const project = parameters.get('project') ?? 'demo';
const base = `/api/runtime/${encodeURIComponent(project)}`;
const stored = `shop-token-${project}`;

export const session = { token: localStorage.getItem(stored), user: null };

export const keepSession = ({ token, user }) => {
  Object.assign(session, { token, user });
  if (token) localStorage.setItem(stored, token);
  else localStorage.removeItem(stored);
};

/** Sends JSON or a form; throws an Error with the message and code of the API. */
export const call = async (method, path, body) => {
  const headers = {};
  if (session.token) headers.Authorization = `Bearer ${session.token}`;
  const isForm = body instanceof FormData;
  if (body && !isForm) headers['Content-Type'] = 'application/json';
  const response = await fetch(base + path, {
    method,
    headers,
    body: isForm || !body ? body : JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { code: answer.code });
  return answer;
};

/** Amounts are integers in the currency's smallest unit. */
export const money = (amount, currency) => {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
};

/** An element with its attributes and children; text is never read as HTML. */
export const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};

export const byId = (id) => document.getElementById(id);

/** Shows what went wrong where people look for it. */
export const attempt = async (work) => {
  byId('problem').textContent = '';
  try {
    await work();
  } catch (error) {
    if (error.code === 'invalid_token') keepSession({ token: null, user: null });
    byId('problem').textContent = error.message;
  }
};
