/** A verb alone or with what it is about: `find`, `findMany`, `find_all`. */
const verb = (verbs: string) =>
  new RegExp(`^(${verbs})_?(one|many|all|docs?|records?|items?|documents?|by_?id)?$`, 'i');

/** What people bring from other backends, and the call that it is here. */
export const guesses: readonly (readonly [RegExp, string])[] = [
  [/anonym|guest/i, 'auth.guest()'],
  [
    /with_?(popup|redirect|google|github|apple|microsoft|facebook|discord|provider|social|id_?token)|oauth|sso|exchange_?code/i,
    "auth.signInWith('google')",
  ],
  [/verify_?otp/i, 'auth.verifyCode({ email, code })'],
  [/otp$|magic/i, 'auth.code(email)'],
  [/passkey|webauthn/i, 'auth.signInWithPasskey()'],
  [/^(mfa|totp|2fa|two_?factor|enroll)/i, 'auth.addTotp()'],
  [/identit/i, 'auth.identities()'],
  [/^(log|sign)_?in|^auth(enticate|_?with)/i, 'auth.signIn({ email, password })'],
  [/^(sign_?up|register|create_?(user|account))/i, 'auth.signUp({ email, password })'],
  [/^(log|sign)_?(out|off)$/i, 'auth.signOut()'],
  [/^(get|current|fetch)?_?(user|session|me|profile)$|^is_?(logged|signed|auth)/i, 'auth.me()'],
  [/^(update|set|edit)_?(user|profile)$/i, 'auth.updateMe({ name, profile })'],
  [/^(delete|remove|close)_?(user|account)$/i, 'auth.deleteMe()'],
  [/^(forgot|reset|recover|send|request)\w*password/i, 'auth.forgotPassword(email)'],
  [/^(update|set|edit)_?password$/i, 'auth.changePassword({ currentPassword, newPassword })'],
  [/^(update|set|edit)_?email$/i, 'auth.changeEmail({ email, password })'],
  [/^on_?(auth|user)/i, 'auth.onChange((user) => {})'],
  [/^(get_?)?(access_?)?token$|^refresh(_?(token|session))?$/i, 'transport.authorization()'],
  [/^(from|collections?|tables?|records?|model|entit(y|ies))$/i, "db('todos')"],
  [/^(full_?text_?)?search(_?(text|all))?$/i, "db('todos').list({ search: 'green tea' })"],
  [
    /^(group_?by|sum|avg|average|min|max|distinct|stats)$/i,
    "db('todos').aggregate({ group: 'status', sum: 'price' })",
  ],
  [/^(join|populate|expand|include|with)$/i, "db('todos').list({ include: 'authorId:people' })"],
  [
    /^(on|(un)?subscribe|watch|listen|on_?snapshot|channels?|realtime|live|sockets?)$/i,
    "db('todos').live({ where: { done: false } }, (items) => {})",
  ],
  [/^(broadcast|emit|publish|presence|track)$/i, "channel('room:1').send(data)"],
  [/^(iterate|paginate|each|cursor|pages)$/i, "db('todos').all({ sort: 'title' })"],
  [
    /^(get|find|fetch|read)_?(one|by_?id|first|doc|record)$|^(get|(maybe_?)?single|first|doc)$/i,
    "db('todos').get(id)",
  ],
  [
    verb(
      'list|find|fetch|query|select|where|filter|order_?by|order|sort|limit|offset|range|eq|gte?|lte?|i?like|get(?=_?(all|many|docs))',
    ),
    "db('todos').list({ where: { done: false }, sort: '-createdAt' })",
  ],
  [
    /^(batch|bulk|transaction|run_?transaction|write_?batch|clear|truncate|(create|insert|add|update|delete)_?(many|all|where))/i,
    "db('todos').batch({ create: [{ data }], delete: [id] })",
  ],
  [/^(increment|decrement|inc|add_?to)$/i, "db('todos').update(id, { inc: { likes: 1 } })"],
  [verb('create|insert|add|save|push'), "db('todos').create({ title: 'Buy milk' })"],
  [verb('upsert|put|replace|set'), "db('todos').replace(id, data, { upsert: true })"],
  [verb('update|edit|patch|modify'), "db('todos').update(id, { data: { done: true } })"],
  [verb('delete|remove|erase'), "db('todos').delete(id)"],
  [verb('count|exists'), "db('todos').count({ where: { done: false } })"],
  [/^(chat|generate|text)?_?stream/i, 'ai.stream({ messages })'],
  [
    /^(chat|complet|generate|(ask|prompt|create|invoke(_?llm)?)$)/i,
    "ai.generate({ messages: [{ role: 'user', content: 'Hello' }] })",
  ],
  [/^(get|create)?_?signed_?url$/i, 'storage.sign(id, seconds)'],
  [
    /^(upload|attach)|^(put|add|save|create|files?|from|bucket)$/i,
    'storage.upload(file, { name, onProgress })',
  ],
  [/^(remove|erase)(_?file)?$/i, 'storage.delete(id)'],
  [/^(send_?(e?mail|message)?|e?mail|bulk|batch)$/i, 'email.send({ to, subject, html })'],
  [
    /^(pay$|charge|buy|purchase|checkout|create_?(checkout|payment|session)?$)/i,
    'payments.checkout({ items, returnUrl })',
  ],
  [/^(get|find|confirm|capture)(_?payment)?$/i, 'payments.verify(sessionId)'],
  [/^(get|find)(_?group)?$/i, 'groups.get(id)'],
  [/^(add|invite)(_?(user|member))?$/i, "groups.invite(id, { email, role: 'member' })"],
  [/^(remove|leave|kick)(_?(user|member))?$/i, 'groups.remove(id, userId)'],
  [/^(update|edit)$/i, 'groups.rename(id, name)'],
  [/^(get|list|fetch)$/i, 'users.find([id])'],
  [/^(create|add|update)$/i, 'products.set(id, { name, amount })'],
];

const server = 'a server of your own, with createClient(baseUrl, { key })';
const list = "client.db('todos').list";
const control = 'the owner, at /api/platform/projects/<project>';

/** What others have and is not here: in which groups, its name, why, and what is nearest. */
export const missing: readonly (readonly [RegExp, RegExp, string, string])[] = [
  [
    /^(auth|client)$/,
    /phone|sms|web3|ethereum|solana|saml/i,
    'an account has an address, a provider or a passkey',
    "client.auth.signInWith('google')",
  ],
  [
    /^auth/,
    /^(set|restore)_?session$/i,
    'the client keeps the token',
    'createClient(baseUrl, { storage })',
  ],
  [
    /^auth/,
    /^(resend|send_?(e?mail_?)?verification)/i,
    'the link is mailed at sign-up, and again by it',
    'client.auth.resendVerification()',
  ],
  [
    /^email/,
    /templat/i,
    'the owner sets them',
    "client.email.send({ template: 'receipt', data: { order } })",
  ],
  [/^email/, /schedul|later/i, 'mails leave at once', server],
  [
    /^payments/,
    /subscri|recurr|invoice|customer|portal|plan/i,
    'a payment is made once',
    'client.payments.checkout({ items, returnUrl })',
  ],
  [
    /^payments/,
    /^(refund|cancel)/i,
    'money is given back by the owner',
    `${control}/payments/<id>/refund`,
  ],
  [
    /^storage/,
    /^(get_?)?(public|file|download)_?url$|^get_?url$/i,
    'a file opens at its address',
    'the `url` that upload and list answer; for a private file client.storage.sign(id, seconds)',
  ],
  [
    /^storage/,
    /^(download|get|read|open|fetch)(_?file)?$/i,
    'a file opens at its address',
    'fetch(file.url); for a private file client.storage.sign(id, seconds)',
  ],
  [
    /^storage/,
    /^(move|copy|rename|update|replace|(set|make)_?(public|private|visibility))/i,
    'a file stays as it was uploaded',
    'client.storage.upload(file, { name, visibility }), then client.storage.delete(id)',
  ],
  [
    /^storage/,
    /resize|thumb|transform|preview/i,
    'sizes are asked for by address',
    "file.url + '?width=320'",
  ],
  [/^ai/, /embed|vector|similar/i, 'texts become no vectors', `${list}({ search: 'green tea' })`],
  [
    /^ai/,
    /image|picture|dall/i,
    'images are looked at, not made',
    "client.ai.generate with a part { type: 'image', fileId }",
  ],
  [
    /^ai/,
    /speech|speak|audio|transcri|voice|tts|assistant|thread|agent|tool|moderat|fine_?tun/i,
    'a model answers with text or JSON',
    'client.ai.generate({ messages, json })',
  ],
  [
    /^ai/,
    /^(set_?)?models?$/i,
    'the owner chooses the model',
    `${control} {"settings":{"aiModel":"…"}}`,
  ],
  [
    /^(db|client)/,
    /^(rpc|sql|graphql|execute|raw)/i,
    'queries are filters',
    `${list}({ where: { done: false } })`,
  ],
  [
    /^(db|client)/,
    /histor|version|revision|restore|undelete|undo|trash/i,
    'records have a history',
    'GET /db/<collection>/<id>/_history, POST …/_restore',
  ],
  [
    /^(db|client)/,
    /vector|nearest|similar/i,
    'texts become no vectors',
    `${list}({ search: 'green tea' })`,
  ],
  [
    /^db/,
    /^(set_?)?(access|permissions?|rules|acl|schema|index(es)?)$|_?index(es)?$/i,
    'collections are set up by the owner',
    `${control}/collections/<collection>`,
  ],
  [
    /^client/,
    /^(functions?|invoke|cloud|edge|call(able)?|run|actions?|integrations|schedul|cron|jobs?$|queues?$|timers?$)/i,
    'no code of yours runs here',
    server,
  ],
  [
    /^client/,
    /push|notif|messaging|sms/i,
    'people are reached by mail',
    'client.email.send({ to, subject, html })',
  ],
  [
    /^client/,
    /^(settings|secrets?|keys|projects?|admin|collections?_?admin|analytics|usage|web_?hooks?|triggers?)$/i,
    'a project is managed by its owner',
    control,
  ],
];
