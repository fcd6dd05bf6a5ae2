import type { z } from 'zod';
import { type Caller, defaultBodyLimitBytes, type RouteDefinition } from '../define-route.ts';
import { type ErrorCode, errorStatus } from '../error-codes.ts';
import { type PriceChanges, priceTerms } from '../prices/prices.ts';
import { neededScope } from '../rights/key-scopes.ts';
import { neededRole } from '../rights/needed-role.ts';
import { neededOperatorScope } from '../rights/operator-scopes.ts';
import { isViewable, viewAsForm, viewAsHeader } from '../rights/view-as.ts';
import { failure } from '../schemas.ts';
import { services } from '../services.ts';
import { bodyExamples, parameterExamples } from './openapi-examples.ts';
import { createSchemas, type Schemas } from './openapi-schemas.ts';

const tagName = ({ plane, service }: RouteDefinition): string =>
  services[plane === 'platform' ? 'projects' : service].title;

const groups: readonly string[] = Object.values(services).map(({ title }) => title);
const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];

/** As a reader looks for them: by group, then by path, then from reading to deleting. */
const inReadingOrder = (a: RouteDefinition, b: RouteDefinition): number =>
  groups.indexOf(tagName(a)) - groups.indexOf(tagName(b)) ||
  a.path.localeCompare(b.path, 'en') ||
  methods.indexOf(a.method) - methods.indexOf(b.method);

/** `createRecord` sends a `CreateRecordRequest` and gets what has a name, or a `CreateRecordResponse`. */
const nameFor = ({ operationId }: RouteDefinition, end: 'Request' | 'Response') =>
  operationId.slice(0, 1).toUpperCase() + operationId.slice(1) + end;

const toParameters = (schema: z.ZodObject | undefined, place: 'path' | 'query', schemas: Schemas) =>
  Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...rest } = schemas.describe(field, { io: 'input' });
    const required = place === 'path' || !field.safeParse(undefined).success;
    return {
      name,
      in: place,
      required,
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(required && name in parameterExamples && { example: parameterExamples[name] }),
    };
  });

const toFailures = (route: RouteDefinition) => {
  const codes: ErrorCode[] = [...route.errors];
  if (!route.callers.includes('anonymous')) codes.push('unauthenticated', 'forbidden');
  if ((route.unknownQuery ?? 'refused') === 'refused') codes.push('invalid_query');
  if (route.body) codes.push('body_too_large', 'unsupported_media_type');
  if (route.body && !route.takes) codes.push('invalid_json');
  if (route.method === 'POST' && !route.answeredBy)
    codes.push('idempotency_mismatch', 'idempotency_in_progress');
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codes) {
    const status = errorStatus[code];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  const stated = Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      String(status),
      {
        description: [...names].sort().join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      },
    ]),
  );
  return { ...stated, default: { $ref: '#/components/responses/Failure' } };
};

const toContent = (route: RouteDefinition, schemas: Schemas) => {
  const { answers, response } = route;
  const name = nameFor(route, 'Response');
  return {
    ...(answers === 'html' && { 'text/html': { schema: { type: 'string' } } }),
    ...(answers === 'file' && { '*/*': { schema: { type: 'string', format: 'binary' } } }),
    ...((answers === undefined || answers === 'json-or-events') && {
      'application/json': { schema: schemas.describe(response, { io: 'output', name }) },
    }),
    ...((answers === 'json-or-events' || answers === 'events') && {
      'text/event-stream': { schema: { type: 'string' } },
    }),
  };
};

const bodyTypes = {
  json: 'application/json',
  multipart: 'multipart/form-data',
  bytes: 'application/offset+octet-stream',
  form: 'application/x-www-form-urlencoded',
} as const;

const describePrice = ({
  quantity,
  unitSize,
  chargesStartedUnits,
  millicreditsPerUnit,
  minimumMillicredits,
}: ReturnType<typeof priceTerms>) =>
  `${millicreditsPerUnit} milli-credits for ${chargesStartedUnits ? 'each started' : 'every'} ${unitSize} ${quantity}, at least ${minimumMillicredits}`;

const describeCallers = (route: RouteDefinition) => {
  if (route.callers.every((caller) => caller === 'operator'))
    return `operator (${neededOperatorScope(route)})`;
  const scope = neededScope(route);
  const role = neededRole(route);
  const names: Partial<Record<Caller, string>> = {
    ...(scope !== null && scope !== 'read' && { key: `key (${scope})` }),
    ...(role !== null && role !== 'viewer' && { owner: `owner (${role})` }),
  };
  return route.callers.map((caller) => names[caller] ?? caller).join(', ');
};

const describe = (route: RouteDefinition, changes: PriceChanges) => {
  const { limit, body, bodyLimitBytes, price } = route;
  return [
    `Callers: ${describeCallers(route)}. Rate class: ${limit}.`,
    ...(body ? [`Body: at most ${(bodyLimitBytes ?? defaultBodyLimitBytes) / 1024} KiB.`] : []),
    ...(price ? [`Price: ${describePrice(priceTerms(price, changes))}.`] : []),
  ].join(' ');
};

const toRequestBody = (route: RouteDefinition, body: z.ZodType, schemas: Schemas) => {
  const content = {
    schema: schemas.describe(body, {
      io: 'input',
      name: nameFor(route, 'Request'),
      refusesUnknown: (route.unknownBody ?? 'refused') === 'refused',
    }),
    ...(route.operationId in bodyExamples && { example: bodyExamples[route.operationId] }),
  };
  const types = route.bodyTypes ?? [bodyTypes[route.takes ?? 'json']];
  return {
    required: !body.safeParse(undefined).success,
    content: Object.fromEntries(types.map((type) => [type, content])),
  };
};

const toOperation = (route: RouteDefinition, changes: PriceChanges, schemas: Schemas) => ({
  operationId: route.operationId,
  tags: [tagName(route)],
  summary: route.summary,
  description: describe(route, changes),
  ...(route.price && { 'x-price': priceTerms(route.price, changes) }),
  security: route.callers.includes('anonymous') ? [{}, { bearer: [] }] : [{ bearer: [] }],
  parameters: [
    ...toParameters(route.params, 'path', schemas),
    ...toParameters(route.query, 'query', schemas),
    ...(route.method === 'POST' && !route.answeredBy
      ? [{ $ref: '#/components/parameters/IdempotencyKey' }]
      : []),
    ...(route.method === 'GET' && isViewable(route) && !route.answeredBy
      ? [{ $ref: '#/components/parameters/ViewAs' }]
      : []),
  ],
  ...(route.body ? { requestBody: toRequestBody(route, route.body, schemas) } : {}),
  responses: {
    [route.status]: {
      description: 'Done',
      ...((route.unknownQuery === 'hinted' || route.unknownBody === 'hinted') && {
        headers: { 'Backlot-Hint': { $ref: '#/components/headers/BacklotHint' } },
      }),
      ...(route.status !== 204 && { content: toContent(route, schemas) }),
    },
    ...(route.otherStatus && {
      [route.otherStatus.status]: {
        description: route.otherStatus.when,
        content: toContent(route, schemas),
      },
    }),
    ...toFailures(route),
  },
});

const description = `The backend of an application: accounts, records, AI, files, e-mail, payments and the control plane of its project.

- An owner is a user of the built-in project: \`POST /api/runtime/platform/auth/signup {email, password}\` answers the token, which opens the control plane, \`/api/platform\`.
- \`POST /api/platform/projects {name}\` makes a project. Its pages call \`/api/runtime/<id>\`, with the tokens of its own users or with none.
- Who may do what in a collection is set by \`PUT /api/platform/projects/<id>/collections/<name> {access}\`; a user has the role that the owner gives: \`PATCH /api/platform/projects/<id>/users/<id> {role}\`.
- Calls are free but for those that name a price.`;

/**
 * The API as OpenAPI 3.1. Runtime paths are relative to the base address of a project; those of the
 * control plane carry a server of their own.
 */
export const openApiDocument = (
  routes: readonly RouteDefinition[],
  priceChanges: PriceChanges = {},
): Record<string, unknown> => {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas = createSchemas();
  schemas.describe(failure, { io: 'output' });
  for (const route of [...routes].sort(inReadingOrder)) {
    const path = route.path.replace(/:([A-Za-z]+)/g, '{$1}');
    const fresh = route.plane === 'platform' ? { servers: [{ url: '/api/platform' }] } : {};
    paths[path] = {
      ...(paths[path] ?? fresh),
      [route.method.toLowerCase()]: toOperation(route, priceChanges, schemas),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Backlot',
      version: '1',
      description,
    },
    servers: [
      {
        url: '/api/runtime/{projectId}',
        variables: { projectId: { default: 'demo', description: 'Id of the project' } },
      },
    ],
    tags: Object.values(services).map(({ title, summary }) => ({
      name: title,
      description: summary,
    })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A user’s or owner’s token, a secret key, or the operator token',
        },
      },
      schemas: schemas.components(),
      responses: {
        Failure: {
          description:
            'Any call may also answer 401 invalid_token, 403 project_paused, 404 project_not_found, 410 project_deleted, 429 rate_limited, 500 internal, 503 unavailable, secrets_unreadable or access_refused, or 504 timeout.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
        },
      },
      headers: {
        BacklotHint: {
          description: 'What of the request was ignored, and what it may have meant',
          schema: { type: 'string', maxLength: 500 },
        },
      },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'The same key with the same body replays the first answer for 24 hours',
          schema: { type: 'string', maxLength: 255 },
        },
        ViewAs: {
          name: viewAsHeader,
          in: 'header',
          required: false,
          description: `With the token of the project’s owner: what this caller would get, ${viewAsForm}`,
          schema: { type: 'string', maxLength: 100 },
        },
      },
    },
  };
};
