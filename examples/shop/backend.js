// The backend of this shop: one project, through the client that every installation serves.
import { createClient } from '/sdk.js';

const parameters = new URLSearchParams(location.search);
export const project = parameters.get('project') ?? 'demo';
export const client = createClient(`${location.origin}/api/runtime/${encodeURIComponent(project)}`);

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
    // Forgets a token that is over.
    if (error.code === 'invalid_token') await client.auth.me();
    byId('problem').textContent = error.message;
  }
};
