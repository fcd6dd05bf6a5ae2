// The project's owner sets it up once: npx <host>/packages/backlot-cli.tgz apply <project> backlot.json
import {
  attempt,
  button,
  byId,
  client,
  element,
  keepAccount,
  keepLooking,
  onSubmit,
} from '../page.js';

const messages = client.db('messages');
/** What is said there is kept nowhere: who is here, and who is writing. */
const channel = client.channel('chat');
const isModerator = () => user?.role === 'moderator';

let user = null;

/** Of files that are open to whoever reads the message, which an `<img>` alone can not show that it may. */
const pictures = new Map();
const pictureElement = (id) => {
  if (!pictures.has(id)) {
    const opened = client.storage.open(id, { width: 640, format: 'webp' });
    pictures.set(
      id,
      opened.then(URL.createObjectURL).catch(() => ''),
    );
  }
  const image = element('img', { alt: 'A picture' });
  void pictures.get(id).then((address) => {
    image.src = address;
  });
  return image;
};

const remove = (id) => () => messages.delete(id);
const report = (id) => async () => {
  const reason = prompt('What is wrong with this message?');
  if (reason) await messages.report(id, reason);
};

const messageElement = ({ id, text, picture, createdAt, ownerId: author }) => {
  const isMine = author?.id === user.id;
  return element(
    'li',
    {},
    element('strong', {}, author?.name ?? 'Somebody'),
    ' ',
    element('small', {}, new Date(createdAt).toLocaleTimeString()),
    element('p', {}, text),
    ...(picture ? [pictureElement(picture)] : []),
    ...(isMine || isModerator() ? [button('Delete', remove(id)), ' '] : []),
    ...(isMine ? [] : [button('Report', report(id))]),
  );
};

const reportElement = ({ recordId, ownerId, reason }) => {
  const dismiss = async () => {
    await messages.dismissReports(recordId);
    await showReports();
  };
  const block = async () => {
    await client.users.block(ownerId, { reason: `A message of yours was reported: ${reason}` });
    await dismiss();
  };
  return element(
    'li',
    {},
    element('p', {}, reason),
    button('Block who wrote it', block),
    ' ',
    button('Delete the message', remove(recordId)),
    ' ',
    button('Leave it', dismiss),
  );
};

/** Only what has changed is drawn anew, so that nobody's text or focus is lost. */
const shown = {};
const draw = (id, items, toElement) => {
  const state = JSON.stringify(items);
  if (shown[id] === state) return;
  shown[id] = state;
  byId(id).replaceChildren(...items.map(toElement));
};

const nameOf = ({ name }) => String(name ?? 'Somebody').slice(0, 100);

/** Names of who is writing, with the timer that takes them off again. */
const writers = new Map();
const showWriters = () => {
  const names = [...writers.keys()];
  byId('typing').textContent = names.length > 0 ? `${names.join(', ')} writing …` : '';
};
const stopsWriting = (name) => {
  clearTimeout(writers.get(name));
  writers.delete(name);
  showWriters();
};
const writes = ({ from, data }) => {
  if (from.userId === user?.id) return;
  const name = nameOf(data);
  stopsWriting(name);
  if (!data.isWriting) return;
  writers.set(name, setTimeout(stopsWriting, 5000, name));
  showWriters();
};

let saidAt = 0;
const sayWriting = (isWriting) => {
  // Every two seconds is often enough.
  if (isWriting && Date.now() < saidAt + 2000) return;
  saidAt = isWriting ? Date.now() : 0;
  // That somebody writes is no message: nobody misses it where it is lost.
  channel.send({ isWriting, name: user.name }).catch(() => {});
};

let stop = () => {};
/** Told of the messages, and again after each change, by whoever; what is written here shows at once. */
const watch = () => {
  stop();
  if (user === null) return;
  const onError = (error) =>
    attempt(() => {
      throw error;
    });
  const stops = [
    messages.live({ sort: '-createdAt', limit: 50, include: 'ownerId:users', onError }, (items) =>
      draw('messages', items, messageElement),
    ),
    channel.on(writes, onError),
    channel.presence(
      { name: user.name },
      (members) => {
        byId('here').textContent = members.map(({ data }) => nameOf(data)).join(', ');
      },
      onError,
    ),
  ];
  stop = () => {
    for (const end of stops) end();
  };
};

/** Reports are no records: a moderator's page asks for them. */
const showReports = async () => {
  if (isModerator()) draw('reports', (await messages.reports()).items, reportElement);
};

byId('message').elements.text.addEventListener('input', () => sayWriting(true));

onSubmit('message', async ({ text, picture }) => {
  const [file] = picture.files;
  const written = text.value;
  if (written === '' && !file) return;
  // It shows at once: what is typed next is another message.
  text.value = picture.value = '';
  sayWriting(false);
  try {
    const { id } = await messages.create({ text: written });
    if (!file) return;
    const record = { collection: 'messages', recordId: id };
    const { id: stored } = await client.storage.upload(file, record);
    await messages.update(id, { data: { picture: stored } });
  } catch (error) {
    text.value ||= written;
    throw error;
  }
});

void keepAccount(async (current) => {
  user = current;
  byId('room').hidden = user === null;
  byId('reported').hidden = !isModerator();
  shown.messages = shown.reports = undefined;
  watch();
  await attempt(showReports);
}).then(() => keepLooking(showReports));
