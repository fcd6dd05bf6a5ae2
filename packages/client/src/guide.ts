/** A verb alone or with what it is about: `find`, `findMany`, `find_all`. */
const verb = (verbs: string) =>
  new RegExp(`^(${verbs})_?(one|many|all|docs?|records?|items?|documents?|by_?id)?$`, 'i');

/** What people bring from other backends, and the call that it is here. */
const guesses: readonly (readonly [RegExp, string])[] = [
  [/^(log|sign)_?in|^auth(enticate|_?with)/i, 'auth.signIn({ email, password })'],
  [/^(sign_?up|register|create_?(user|account))/i, 'auth.signUp({ email, password })'],
  [/^(log|sign)_?(out|off)$/i, 'auth.signOut()'],
  [/^(get|current|fetch)?_?(user|session|me|profile)$|^is_?(logged|signed|auth)/i, 'auth.me()'],
  [/^(update|set|edit)_?(user|profile)$/i, 'auth.updateMe({ name, profile })'],
  [/^(forgot|reset|recover|send|request)\w*password/i, 'auth.forgotPassword(email)'],
  [/^(update|set|edit)_?password$/i, 'auth.changePassword({ currentPassword, newPassword })'],
  [/^on_?(auth|user)/i, 'auth.onChange((user) => {})'],
  [/^(get_?)?(access_?)?token$|^refresh(_?token)?$/i, 'transport.authorization()'],
  [/^(from|collections?|tables?|records?|model|entit(y|ies))$/i, "db('todos')"],
  [
    /^(get|find|fetch|read)_?(one|by_?id|first|doc|record)$|^(get|single|first|doc)$/i,
    "db('todos').get(id)",
  ],
  [
    verb(
      'list|find|fetch|query|select|where|filter|search|order_?by|sort|get(?=_?(all|many|docs))',
    ),
    "db('todos').list({ where: { done: false }, sort: '-createdAt' })",
  ],
  [
    /^(batch|bulk|(create|insert|add|update|delete)_?many)/i,
    "db('todos').batch({ create: [{ data }] })",
  ],
  [verb('create|insert|add|save|push'), "db('todos').create({ title: 'Buy milk' })"],
  [verb('upsert|put|replace|set'), "db('todos').replace(id, data, { upsert: true })"],
  [verb('update|edit|patch|modify|increment'), "db('todos').update(id, { data: { done: true } })"],
  [verb('delete|remove|erase'), "db('todos').delete(id)"],
  [verb('count'), "db('todos').count({ where: { done: false } })"],
  [
    /^(subscribe|watch|on_?snapshot|channel|realtime)$/i,
    "db('todos').list() from time to time, since changes are not pushed",
  ],
  [/^(chat|generate|text)?_?stream/i, 'ai.stream({ messages })'],
  [
    /^(chat|complet|generate|(ask|prompt|create)$)/i,
    "ai.generate({ messages: [{ role: 'user', content: 'Hello' }] })",
  ],
  [
    /^(get|create)?_?(public|signed|file|download)_?url$|^get_?url$|^download|^(get|read)(_?file)?$/i,
    'storage.sign(id, seconds)',
  ],
  [
    /^(upload|attach)|^(put|add|save|create|files?|from|bucket)$/i,
    'storage.upload(file, { name, onProgress })',
  ],
  [/^(remove|erase)(_?file)?$/i, 'storage.delete(id)'],
  [/^(send_?(e?mail|message)?|e?mail)$/i, 'email.send({ to, subject, html })'],
  [
    /^(pay$|charge|buy|purchase|checkout|create_?(checkout|payment|session)?$)/i,
    'payments.checkout({ items, returnUrl })',
  ],
  [/^(get|find)(_?payment)?$/i, 'payments.verify(sessionId)'],
  [/^(get|find)(_?group)?$/i, 'groups.list()'],
  [/^(add|invite)(_?(user|member))?$/i, "groups.invite(id, { email, role: 'member' })"],
  [/^(remove|leave|kick)(_?(user|member))?$/i, 'groups.remove(id, userId)'],
  [/^(update|edit)$/i, 'groups.rename(id, name)'],
  [/^(get|list|fetch)$/i, 'users.find([id])'],
  [/^(create|add|update)$/i, 'products.set(id, { name, amount })'],
];

/** Says which method is meant, and which there are, where somebody takes one that is not there. */
export const guided = <Group extends object>(name: string, group: Group): Group =>
  new Proxy(group, {
    get(target, key, receiver) {
      if (key in target) return Reflect.get(target, key, receiver);
      const text = String(key);
      const calls = guesses.filter(([pattern]) => pattern.test(text)).map(([, call]) => call);
      // `client.db.todos`, as others name a collection.
      if (typeof target === 'function' && /^[a-z]+s$/.test(text)) calls.push(`db('${text}')`);
      const call = calls.find((known) => known.startsWith(name.split('(')[0] ?? '')) ?? calls[0];
      // What is like no guess stays undefined: libraries look for methods of theirs.
      if (!call) return undefined;
      const methods = Object.keys(target).join(', ');
      throw new TypeError(
        `There is no ${name}.${text}. Did you mean client.${call}?${methods && ` There are: ${methods}.`}`,
      );
    },
  });
