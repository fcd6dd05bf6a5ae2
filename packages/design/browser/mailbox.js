/** Signs a reader in to the dev mailbox. The token goes into a header that the gateway checks; the page keeps it nowhere. */
const form = document.querySelector('form');
const message = form.querySelector('[role=alert]');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  message.textContent = '';
  const headers = { Authorization: `Bearer ${form.elements.token.value.trim()}` };
  try {
    const answer = await fetch(form.action, { method: 'POST', headers });
    // The same mail that was asked for.
    if (answer.ok) location.reload();
    else message.textContent = (await answer.json()).error;
  } catch {
    message.textContent = 'The mailbox did not answer. Try again.';
  }
});
