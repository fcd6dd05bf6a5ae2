/** What others have at a path of the host, in lower case without a slash at the end, and where it is here. */
const host: readonly (readonly [RegExp, string])[] = [
  [
    /^(\/api)?\/(openapi|swagger|api-docs)(\.json|\.ya?ml)?$/,
    'The description of the API: /docs/openapi.json; of one project: /api/runtime/<project>/openapi.json. For people: /docs.',
  ],
  [/^\/(swagger|redoc|api-docs|reference|documentation)(\/.*)?$/, 'The API for people: /docs.'],
  [/^\/guides?(\/.*)?$/, 'The guides: /docs/guides.'],
  [
    /^\/llms?(-full|-owners)?(\.txt|\.md)?$/,
    'For agents: /llms.txt, /llms-full.txt with every rule of apps, /llms-owners.txt with those of owners.',
  ],
  [/^\/(health|status|ping|live|ready|livez)$/, 'It is alive: /healthz. It can serve: /readyz.'],
  [
    /^\/types(\.d\.ts)?$|^\/(client|index)\.d\.ts$/,
    'Types of the client: /sdk.d.ts; of a project, with a key: /api/runtime/<project>/types.d.ts.',
  ],
  [
    /^\/(sdk|client|backlot)(\.m?js|\.ts)?$/,
    'The client: /sdk.js with /sdk.d.ts, or npm install <host>/packages/backlot-client.tgz.',
  ],
  [
    /^\/(packages|npm|download|cli)(\/.*)?$/,
    'Packages for npm: /packages/backlot-client.tgz and /packages/backlot-cli.tgz.',
  ],
  [
    /^(\/api)?\/(login|sign-?in|register|sign-?up|admin|dashboard)(\/.*)?$/,
    'Owners sign up and in at /console, or by POST /api/runtime/platform/auth/signup and /auth/signin, users by the same at /api/runtime/<project>.',
  ],
  [
    /^(\/api(\/v\d+|\/runtime|\/platform)?|\/v\d+|\/rest(\/v1)?)?\/(db|auth|storage|ai|email|payments|groups|users|products|collections|todos|rest)(\/.*)?$/,
    'The API is below /api/runtime/<project>, as in /api/runtime/<project>/db/<collection>.',
  ],
];

const maxPathLength = 200;

/** @param path as it was sent */
export const findAtHost = (path: string): string | undefined => {
  const guess = path.slice(0, maxPathLength).replace(/\/+$/, '').toLowerCase();
  return host.find(([pattern]) => pattern.test(guess))?.[1];
};
