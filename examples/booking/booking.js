// The project's owner sets it up once: npx <host>/packages/backlot-cli.tgz apply <project> backlot.json
import { attempt, button, byId, client, element, keepAccount, keepLooking } from '../page.js';

const bookings = client.db('bookings');
const times = ['09:00', '10:00', '11:00', '13:00', '14:00', '15:00', '16:00'];
const daysShown = 7;

let user = null;
const isStaff = () => user?.role === 'staff';

const nextDays = () =>
  Array.from({ length: daysShown }, (_, n) => {
    const date = new Date();
    date.setDate(date.getDate() + n + 1);
    return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
  });
const inWords = (day) =>
  new Date(`${day}T12:00`).toLocaleDateString(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
  });

const book = (day, time) => async () => {
  if (user === null) throw new Error('Sign in or up first.');
  const wish = byId('wish').elements.wish.value;
  try {
    await bookings.create({ day, time, ...(wish && { wish }) });
  } catch (error) {
    if (error.code === 'not_unique') throw new Error('Somebody was faster: this time is taken.');
    throw error;
  } finally {
    await show();
  }
  byId('wish').reset();
  byId('notice').textContent = `Booked: ${inWords(day)} at ${time}.`;
  const mail = { template: 'booked', data: { name: user.name ?? '', day, time } };
  await client.email.send(mail).catch(({ message }) => {
    byId('notice').textContent += ` You get no mail: ${message}`;
  });
};

const cancel = (id) => async () => {
  await bookings.delete(id);
  await show();
};

const bookingElement = ({ id, day, time, name, wish }) =>
  element(
    'li',
    {},
    `${inWords(day)}, ${time}`,
    ...(isStaff() ? [` ${name ?? ''}`] : []),
    ...(wish ? [` (${wish})`] : []),
    ' ',
    button('Cancel', cancel(id)),
  );

const dayElement = (day, taken) => {
  const made = element('section', {}, element('strong', {}, inWords(day)));
  made.setAttribute('aria-label', day);
  for (const time of times) {
    const disabled = taken.has(`${day} ${time}`);
    made.append(button(time, book(day, time), { disabled }));
  }
  return made;
};

let shown = '';
const show = async () => {
  const days = nextDays();
  const where = { day: { $gte: days[0], $lte: days.at(-1) } };
  const { items } = await bookings.list({ where, sort: 'day', limit: 200 });
  const state = JSON.stringify([items, user]);
  if (state === shown) return;
  shown = state;
  const taken = new Set(items.map(({ day, time }) => `${day} ${time}`));
  byId('days').replaceChildren(...days.map((day) => dayElement(day, taken)));
  const listed = items.filter(({ ownerId }) => user && (isStaff() || ownerId === user.id));
  byId('bookings').replaceChildren(...listed.map(bookingElement));
};

void keepAccount(async (current) => {
  user = current;
  byId('mine').hidden = user === null;
  byId('mine-title').textContent = isStaff() ? 'All bookings' : 'Your bookings';
  byId('notice').textContent =
    user && !user.emailVerified
      ? 'Follow the link in the mail that we have sent you, then book.'
      : '';
  await attempt(show);
}).then(() => keepLooking(show));
