import type { RouteDefinition } from '@backlot/contract';

/** A path in lower case without a slash at the end, and where it is here or what is there instead. */
type Guess = readonly [RegExp, string];

const passwords =
  'A forgotten password: POST /auth/forgot, then POST /auth/reset. To change it: POST /auth/password.';
const noCode = 'No code of yours runs here: a server of your own calls with a secret key.';
const noSchedule =
  'Nothing runs here at a time of its own: a timer of a server of yours calls with a secret key.';
const hooks =
  'The owner has changes sent out: PUT /api/platform/projects/<projectId>/webhooks/<name> {"url", "on"}.';
const history =
  'The past of a record: GET /db/<collection>/<id>/_history, POST /db/<collection>/<id>/_restore.';
const description =
  'Below the base address: /llms.txt, /openapi.json and /types.d.ts describe it. All routes: /docs.';
const byOwner = 'The owner manages it: /api/platform/projects/<projectId>, listed at /docs.';

/** The same on both planes. */
const anywhere: readonly Guess[] = [
  [
    /^(\/projects\/[^/]+(\/collections\/[^/]+)?)?\/(functions?|edge-functions|rpc|lambda|cloud|code|actions)(\/.*)?$/,
    noCode,
  ],
  [
    /^(\/projects\/[^/]+(\/collections\/[^/]+)?)?\/(schedules?|crons?|jobs?|queues?|timers?|scheduled)(\/.*)?$/,
    noSchedule,
  ],
  [
    /^\/payments\/webhooks?(\/.*)?$/,
    'Stripe calls POST /payments/webhook of the project, once its keys are set.',
  ],
  [/^(\/projects\/[^/]+(\/collections\/[^/]+)?)?\/(web-?hooks?|triggers?|hooks)(\/.*)?$/, hooks],
  [/\/_?(history|versions?|revisions?|undelete|undo|trash|audit)(\/.*)?$/, history],
  [
    /^(\/projects\/[^/]+(\/collections\/[^/]+)?)?\/(push|notifications?|messaging|sms)(\/.*)?$/,
    'People are reached by mail: POST /email/send.',
  ],
  [
    /^(\/projects\/[^/]+(\/collections\/[^/]+)?)?\/(graphql|sql|query)$/,
    'Queries are filters: GET /db/<collection>?where={"done":false}.',
  ],
];

const runtime: readonly Guess[] = [
  [/^\/db\/[^/]+\/[^/]+\/_?restore$/, history],
  [
    /^\/auth\/(anonymous|anonymously|guests|sign-?in-?anonymously)$/,
    'A session of a guest: POST /auth/guest. Visitors call without an account, too: leave the header Authorization out.',
  ],
  [
    /^\/auth\/([a-z-]*)(magic-?link|otp|passwordless|email-?code)([a-z-]*)(\/.*)?$/,
    'A code by mail: POST /auth/code {"email": "..."}, then POST /auth/code/verify {"email": "...", "code": "123456"}.',
  ],
  [
    /^\/auth\/([a-z-]*(google|github|gitlab|apple|facebook|microsoft|azure|twitter|discord|linkedin|oauth2?|oidc|saml|sso|providers?|authorize|callback)[a-z-]*)(\/.*)?$/,
    'To sign in by Google and others, open in the browser: GET /auth/oauth/<provider>?returnTo=...&challenge=...; the code comes back: POST /auth/oauth/token. GET /auth/providers lists who can.',
  ],
  [
    /^\/auth\/([a-z-]*(passkeys?|webauthn)[a-z-]*)(\/.*)?$/,
    'Passkeys: POST /auth/passkeys/options and POST /auth/passkeys keep one, POST /auth/passkeys/sign-in/options and POST /auth/passkeys/sign-in sign in.',
  ],
  [
    /^\/auth\/([a-z-]*(mfa|totp|2fa|two-?factor)[a-z-]*)(\/.*)?$/,
    'Second factors: POST /auth/factors/totp and POST /auth/factors/totp/confirm set one up, POST /auth/factors/verify ends a sign-in that has answered a factorToken.',
  ],
  [
    /^\/auth\/([a-z-]*phone[a-z-]*)(\/.*)?$/,
    'There is no sign-in by phone. A code by mail: POST /auth/code {"email": "..."}.',
  ],
  [
    /^\/auth\/(verify-?email|confirm([a-z-]*)|resend([a-z-]*)|send-?verification)$/,
    'The link in the mail of the sign-up brings a token: POST /auth/verify {"token": "..."}. Another link that verifies: POST /auth/forgot.',
  ],
  [
    /^\/auth\/(users|admin)(\/.*)?$/,
    'To create an account: POST /auth/signup. All users, for the owner: GET /api/platform/projects/<projectId>/users.',
  ],
  [/^\/auth\/refresh-?token$/, 'To renew a token: POST /auth/refresh.'],
  [/^(\/auth)?\/(login|sign-?in|log-in|token|session)$/, 'To sign in: POST /auth/signin.'],
  [/^(\/auth)?\/(register|sign-?up)$/, 'To create an account: POST /auth/signup.'],
  [/^(\/auth)?\/(logout|sign-?out|log-out)$/, 'To sign out: POST /auth/signout.'],
  [/^(\/auth|\/users?)?\/(me|user|profile|current-user)$/, 'The user: GET /auth/me.'],
  [/^\/auth\/(forgot|reset|recover|change)[a-z_-]*$/, passwords],
  [
    /^\/collections\/[^/]+$/,
    'Records are at /db/<collection>. The owner sets their access: PUT /api/platform/projects/<projectId>/collections/<collection>.',
  ],
  [
    /^\/(rest\/v1|collections|classes|tables|entities|data)\/.+$/,
    'Records are at /db/<collection>.',
  ],
  [/^\/projects$/, "With an owner's token: GET, POST /api/platform/projects."],
  [/^\/(settings|config|keys|secrets|logs|usage|analytics|stats|admin)(\/.*)?$/, byOwner],
  [/^\/db$/, 'Name a collection: GET /db/<collection>.'],
  [/^\/(teams?|organi[sz]ations?|workspaces?)(\/.+)?$/, 'Teams are groups: GET, POST /groups.'],
  [
    /^\/groups\/[^/]+\/(invitations?|invite)$/,
    'To invite somebody: POST /groups/<groupId>/invites {"email": "…"}.',
  ],
  [
    /^\/groups\/[^/]+\/(join|accept)$/,
    'To join: POST /groups/join {"token": "<of the mailed link>"}.',
  ],
  [/^\/groups\/[^/]+\/leave$/, 'To leave: DELETE /groups/<groupId>/members/<your user id>.'],
  [
    /^\/db\/[^/]+\/[^/]+\/(?!_?shares?).+$/,
    'Records hold no collections: keep the id in a field of another /db/<collection>, and filter by it.',
  ],
  [
    /^(\/(docs|swagger|openapi|schema|types|shape|health|version)(\/.*|\.(json|ya?ml|html|d\.ts))?)?$/,
    description,
  ],
  [/^\/(sdk|client)(\.m?js)?$/, 'The client is <host>/sdk.js.'],
  [
    /^\/(broadcast|publish|channels?|presence|rooms?)(\/.*)?$/,
    'What is kept nowhere is said by POST /events/broadcast {"channel", "data"} and heard by GET /events?channels=<name>, which shows who is there too; the owner opens channels.',
  ],
  [
    /^\/(realtime|subscribe|ws|websocket|live)(\/.*)?$/,
    'Changes come as server-sent events: GET /events?collections=<collection>; in the client db(collection).live().',
  ],
  [
    /^\/storage\/(v1\/)?(buckets?|object|objects|folders?|public)(\/.*)?$/,
    'There are no buckets and folders: POST /storage/upload answers the id and the url of a file, GET /storage/files lists them.',
  ],
  [
    /^\/(storage|files?)\/(sign|delete|[0-9a-f]{8}-[0-9a-f-]{27})$/,
    'A file: DELETE /storage/files/<id>, POST /storage/files/<id>/sign.',
  ],
  [
    /^(\/v1)?(\/ai)?\/(embeddings?|embed|vectors?)$/,
    'Texts become no vectors: words are found by GET /db/<collection>?search=green%20tea.',
  ],
  [
    /^(\/v1)?\/ai\/(images?|audio|speech|transcri[a-z]+|tts|assistants?|agents?|threads)(\/.*)?$/,
    'A model answers with text or JSON: POST /ai. It sees images as {"type": "image", "fileId": "<id>"}.',
  ],
  [/^(\/v1)?\/(ai|chat)\/.+$|^\/(generate|llm|chat)$/, 'To generate text: POST /ai.'],
  [
    /^\/(upload|files?|storage)(\/(upload|list))?$/,
    'To upload a file: POST /storage/upload. To list them: GET /storage/files.',
  ],
  [
    /^\/emails?\/.*templates?(\/.*)?$/,
    'A mail is its own text: POST /email/send {"to", "subject", "html"}.',
  ],
  [/^\/(e?mails?|send-?email|email\/.+)$/, 'To send a mail: POST /email/send.'],
  [
    /^\/(payments\/)?(subscriptions?|invoices?|customers?|plans?|portal)(\/.*)?$/,
    'A payment is made once: POST /payments/checkout.',
  ],
  [
    /^\/(payments\/)?(.+\/)?refunds?$/,
    'The owner gives money back: POST /api/platform/projects/<projectId>/payments/<paymentId>/refund.',
  ],
  [
    /^\/(payments\/)?(checkout|pay|create)(\/sessions?)?$/,
    'To start a payment: POST /payments/checkout.',
  ],
];

const platform: readonly Guess[] = [
  [
    /^\/(login|sign-?in|log-in|token|session)$/,
    'Owners sign in by POST /api/runtime/platform/auth/signin.',
  ],
  [/^\/(register|sign-?up|users)$/, 'To become an owner: POST /api/runtime/platform/auth/signup.'],
  [/^\/(me|user|profile)$/, 'The owner: GET /api/runtime/platform/auth/me.'],
  [
    /^(\/projects\/[^/]+)?\/(openapi(\.json|\.ya?ml)?|swagger(\.json)?|docs|llms\.txt|types\.d\.ts)$/,
    'Of both planes: /docs/openapi.json and /docs. Of one project: /api/runtime/<projectId>/openapi.json, /llms.txt and /types.d.ts.',
  ],
  [
    /^\/projects\/[^/]+\/(db|records|data|tables)(\/.*)?$/,
    'Records are at /api/runtime/<projectId>/db/<collection>, with the same token.',
  ],
  [
    /^\/projects\/[^/]+\/(settings|config|env|variables)(\/.*)?$/,
    'Settings: PATCH /api/platform/projects/<projectId> {"settings": {...}}.',
  ],
  [
    /^\/projects\/[^/]+\/(rules|access|policies|permissions|rls)(\/.*)?$/,
    'Access is set for each collection: PUT /api/platform/projects/<projectId>/collections/<collection> {"access": "private"}.',
  ],
  [
    /^\/projects\/[^/]+\/(schema|schemas|fields|types)(\/.*)?$/,
    'What the records have: GET /api/platform/projects/<projectId>/shape.',
  ],
  [
    /^\/projects\/[^/]+\/collections\/[^/]+\/(index|indexes|indices|unique|search|limits?|rules|access|permissions)$/,
    'All of it is set at once: PUT /api/platform/projects/<projectId>/collections/<collection> {"access", "indexes", "unique", "search", "limits"}.',
  ],
  [
    /^\/projects\/[^/]+\/(domains?|cors|origins?\/.+)$/,
    'Origins of apps: GET, POST /api/platform/projects/<projectId>/origins.',
  ],
  [
    /^\/projects\/[^/]+\/(logs?|errors?|calls|events)(\/.*)?$/,
    'Calls of the project, and why they failed: GET /api/platform/projects/<projectId>/requests?status=failed.',
  ],
  [
    /^\/projects\/[^/]+\/(stats|analytics|metrics|billing|credits)(\/.*)?$/,
    'What calls cost, by day or route: GET /api/platform/projects/<projectId>/usage. The balance: GET /api/platform/credits.',
  ],
  [
    /^\/projects\/[^/]+\/(collaborators|team|invites|owners)(\/.*)?$/,
    'People: POST /api/platform/projects/<projectId>/invitations. Programs take a secret key: POST …/keys.',
  ],
  [
    /^\/projects\/[^/]+\/(backups?|exports?|imports?|dump|snapshots?)(\/.*)?$/,
    'To copy records: GET /api/runtime/<projectId>/db/<collection>?limit=1000, page by page, with a secret key.',
  ],
  [
    /^\/projects\/[^/]+\/(oauth|sso|providers?|auth)(\/.*)?$/,
    'To set up Google and others: PUT /api/platform/projects/<projectId>/auth-providers/<name> {"clientId": "...", "clientSecret": "..."}.',
  ],
];

const guesses: Readonly<Record<RouteDefinition['plane'], readonly Guess[]>> = {
  runtime: [...runtime.slice(0, 1), ...anywhere, ...runtime.slice(1)],
  platform: [...platform, ...anywhere],
};

/** What other backends have at a path, in a sentence of ASCII. */
export const findElsewhere = (
  plane: RouteDefinition['plane'],
  path: string,
): string | undefined => {
  const guess = path.toLowerCase();
  return guesses[plane].find(([pattern]) => pattern.test(guess))?.[1];
};
