/** Of the front door: signs an owner up, or in, and goes on to the console, which finds the token where the client keeps it. */
const form = document.getElementById('create');
const base = `${location.origin}/api/runtime/platform`;
const name = `backlot ${base}`;
try {
  if (localStorage.getItem(name)) {
    form.hidden = true;
    document.getElementById('again').hidden = false;
  }
} catch {
  // Where nothing may be kept, one signs up or in.
}

/** Asks again with a proof of work where one is asked for. */
const signUp = async (body, proof) => {
  const answer = await fetch(`${base}/auth/signup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(proof && { 'Backlot-Proof': proof }) },
    body,
  });
  const content = await answer.json();
  if (answer.status !== 428 || proof) return { isOk: answer.ok, content };
  const { solve } = await import('/sdk-proof.js');
  return signUp(body, await solve(content.challenge));
};

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  const problem = document.getElementById('problem');
  problem.textContent = '';
  button.disabled = true;
  try {
    const { email, password } = form.elements;
    const { isOk, content } = await signUp(
      JSON.stringify({ email: email.value, password: password.value }),
    );
    const { error, hint, token } = content;
    if (!isOk) throw new Error(hint ? `${error} ${hint}` : error);
    localStorage.setItem(name, token);
    location.assign('/console/');
  } catch (error) {
    problem.textContent =
      error instanceof TypeError ? 'The server can not be reached. Try again.' : error.message;
    button.disabled = false;
  }
});
