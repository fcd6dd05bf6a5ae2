// Who may import whom: the second wall, after each package.json. Each rule is proved by a violation
// in tools/testing/src/import-rules.test.ts.

/** May do what production code must not. */
const tests =
  '(\\.(test|conformance|vendors)\\.ts$|/src/testing/|^tools/(testing|journeys|survival|bench)/)';
const ours = '^(packages|services|gateway|tools|examples|console)/';
const entries = '[/-]main\\.ts$';

/** Of our own packages `from` may import only those named, besides itself. */
const mayImport = (name, from, packages, own = from) => ({
  name,
  severity: 'error',
  comment: `imports of ours that are allowed: ${packages.join(', ') || 'none'}`,
  from: { path: from, pathNot: tests },
  to: { path: ours, pathNot: [own, ...packages.map((allowed) => `^packages/${allowed}/`)] },
});

const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** The folders of a service, of the gateway or of a package, from the bottom; those of one line do not know each other. */
const layers = {
  http: [
    ['body', 'input', 'pages'],
    ['call', 'failure'],
    ['answer'],
    ['acts'],
    ['route'],
    ['server'],
    ['ask'],
  ],
  gateway: [
    ['console', 'directory', 'packages', 'routing', 'upstream'],
    ['docs', 'health'],
    ['addresses', 'pages'],
    ['admission'],
    ['call-log'],
    ['steps'],
    ['documents', 'mcp', 'tickets'],
    ['calls'],
  ],
  steps: [['caller', 'forward', 'observe'], ['project'], ['arrival']],
  records: [
    ['schema', 'where'],
    ['collections'],
    ['query'],
    ['indexes', 'record', 'shape'],
    ['change-log', 'channels', 'history', 'list', 'moderation', 'paid', 'reports', 'undo'],
    ['app-events', 'archive', 'exposure', 'live', 'transfer'],
    ['erasure', 'routes'],
  ],
  ai: [['budgets', 'json-schema'], ['model-provider'], ['generations'], ['routes']],
  auth: [
    ['proof-of-work', 'sign-in-events'],
    ['passwords', 'users'],
    ['links', 'sessions'],
    ['codes', 'factors', 'groups', 'guests', 'oauth', 'passkeys'],
    ['sign-in'],
    ['identities'],
    ['archive'],
    ['routes'],
  ],
  email: [
    ['mailer'],
    ['attachments', 'mails'],
    ['template-texts'],
    ['mail-templates'],
    ['mailbox', 'platform-mails'],
    ['bounces'],
    ['queue', 'routes'],
  ],
  payments: [
    ['products', 'provider'],
    ['payments'],
    ['on-paid', 'stripe', 'test-checkout'],
    ['checkout'],
    ['sweep', 'webhooks'],
    ['routes'],
  ],
  projects: [
    ['call-sums', 'operators', 'projects'],
    ['audit', 'call-log', 'findings', 'ledger', 'members', 'origins', 'suspensions', 'webhooks'],
    ['project-file'],
    ['archive'],
    ['routes'],
  ],
  storage: [
    ['blob-store', 'media-types'],
    ['files'],
    ['response', 'upload'],
    ['archive', 'images', 'resumable'],
    ['routes'],
  ],
};

const sources = {
  gateway: 'gateway/src',
  http: 'packages/http/src',
  steps: 'gateway/src/steps',
};

const downwards = Object.entries(layers).flatMap(([name, floors]) => {
  const source = sources[name] ?? `services/${name}/src`;
  return floors.flatMap((floor, height) =>
    floor.map((folder) => {
      const known = [folder, ...floors.slice(0, height).flat()];
      return never(
        'folders-import-downwards',
        `below it: ${known.slice(1).join(', ') || 'none'}`,
        { path: `^${source}/${folder}/`, pathNot: tests },
        {
          path: `^${source}/[^/]+/`,
          pathNot: `^${source}/(${known.join('|')})/`,
        },
      );
    }),
  );
});

export default {
  forbidden: [
    never('no-circular', 'split the file, or turn one import round', {}, { circular: true }),
    never(
      'no-unresolvable',
      'the file or package does not exist',
      {},
      // The client's modules as the gateway serves them.
      { couldNotResolve: true, pathNot: '^(virtual:|/sdk)' },
    ),
    never(
      'no-undeclared-package',
      'name it in the dependencies of this package',
      { pathNot: tests },
      {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        // Whoever installs the package has it.
        dependencyTypesNot: ['npm-peer'],
      },
    ),
    never(
      'no-back-door',
      'import another package by its name, not by a path into it',
      { path: '^((?:packages|services|tools)/[^/]+|gateway)/' },
      { path: ours, pathNot: '^$1/', dependencyTypes: ['local'] },
    ),

    never(
      'contract-imports-zod-only',
      'the contract is read by everybody, browsers included',
      { path: '^packages/contract/', pathNot: tests },
      { pathNot: ['^packages/contract/', 'node_modules/zod/'], dependencyTypesNot: ['core'] },
    ),
    mayImport(
      'leaf-packages-import-none-of-ours',
      '^(packages/(?:identity|telemetry|database|bus|counters|sealing|fair-shares|client|cli|design)|tools/local-servers)/',
      [],
      '^$1/',
    ),
    mayImport('console-imports', '^console/', ['client', 'design', 'contract']),
    never(
      'console-reads-the-contract-as-types',
      'its schemas and zod would reach the browser: console/build takes from it what is needed there',
      { path: '^console/src/' },
      { path: '^packages/contract/', dependencyTypesNot: ['type-only'] },
    ),
    mayImport('outgoing-imports', '^packages/outgoing/', ['http']),
    mayImport('http-imports', '^packages/http/', ['contract', 'identity', 'design']),
    mayImport('service-kit-imports', '^packages/service/', [
      'contract',
      'http',
      'identity',
      'database',
      'bus',
      'sealing',
      'telemetry',
      'fair-shares',
    ]),
    mayImport('gateway-imports', '^gateway/', [
      'contract',
      'http',
      'identity',
      'counters',
      'bus',
      'sealing',
      'telemetry',
      'service',
      'fair-shares',
      'design',
    ]),
    never(
      'gateway-has-no-database',
      'what the gateway has to know it asks the services',
      { path: '^gateway/', pathNot: tests },
      { path: ['^packages/database/', 'node_modules/(pg|node-pg-migrate)/'] },
    ),
    mayImport(
      'service-imports',
      '^services/([^/]+)/',
      [
        'contract',
        'http',
        'identity',
        'database',
        'bus',
        'counters',
        'sealing',
        'telemetry',
        'service',
        'fair-shares',
        'design',
        'outgoing',
      ],
      '^services/$1/',
    ),
    never(
      'nobody-imports-all-in-one',
      'it is the top',
      { pathNot: '^tools/' },
      { path: '^tools/all-in-one/' },
    ),
    never(
      'local-servers-for-development-only',
      'only tests and the one-process platform start servers',
      { pathNot: '^tools/' },
      { path: '^tools/local-servers/' },
    ),
    never(
      'testing-for-tests-only',
      'production code does not import test code',
      { pathNot: tests },
      { path: tests },
    ),
    never('nobody-imports-an-entry', 'it runs a process', {}, { path: entries }),

    never(
      'features-know-no-http',
      'a feature never sees a request: routes call features',
      {
        path: '^services/([^/]+)/src/',
        pathNot: [tests, '^services/[^/]+/src/(routes/|(service|internal|main|index)\\.ts$)'],
      },
      { path: ['^services/$1/src/routes/', 'node_modules/(@types/)?express/'] },
    ),
    never(
      'routes-know-no-database',
      'a route calls a feature, which holds the SQL',
      { path: '^services/[^/]+/src/routes/', pathNot: tests },
      { path: ['^packages/database/', 'node_modules/(@types/)?pg/'] },
    ),
    ...downwards,
    never(
      'queries-know-no-database',
      'they are written without it, and lists and records run them',
      { path: '^services/records/src/(where|query)/', pathNot: tests },
      { path: ['^packages/database/', 'node_modules/(@types/)?pg/'] },
    ),
    never(
      'adapters-are-chosen-at-the-top',
      'only the entry and the one-process platform name a technology',
      {
        path: '^services/([^/]+)/src/',
        pathNot: [tests, '^services/[^/]+/src/(main|index)\\.ts$'],
      },
      {
        path: '^services/$1/src/[^/]+/(s3|filesystem|smtp|http|in-process|redis|rabbitmq)\\.ts$',
      },
    ),
  ],
  options: {
    // TypeScript 7 has no JavaScript API to parse with; swc also sees imports of mere types.
    parser: 'swc',
    exclude: { path: '/dist/|/public/|^tools/[^/]+/packages/' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.json', '.css'],
    },
  },
};
