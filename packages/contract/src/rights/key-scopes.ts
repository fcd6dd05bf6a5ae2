import type { RouteDefinition } from '../define-route.ts';

/** What a secret key was made for (docs/key-scopes.md). */
export const keyScopes = ['read', 'write', 'admin'] as const;
export type KeyScope = (typeof keyScopes)[number];

/**
 * What a key may call, by the scope that it takes: gateway and tools judge by this table. What stands in no
 * row is for no key: deletion, keys, origins, money, secrets, roles, and what users do with their own account.
 */
export const callsOfScopes: Readonly<Record<KeyScope, readonly string[]>> = {
  /** Every key may these: what only reads. Tools of agents ask for the scope of their own calls. */
  read: [
    'listRecords',
    'listChanges',
    'openEvents',
    'listPresence',
    'getRecord',
    'countRecords',
    'aggregateRecords',
    'exportRecords',
    'getHistory',
    'listShares',
    'listReports',
    'getFile',
    'getResumable',
    'listGroups',
    'getGroup',
    'listGroupMembers',
    'listGroupInvites',
    'findUsers',
    'showMailbox',
    'showMail',
    'showMailContent',
    'showMailSource',
    'showMailFile',
    'listProducts',
    'getProduct',
    'listMyPayments',
    'verifyPayment',
    'getProjectShape',
    'getCollectionShape',
    'getSchemaReport',
    'listTrash',
    'listRestorePoints',
    'getUndo',
    'listRequests',
    'streamRequests',
    'callTools',
    'listPrices',
  ],
  /** What changes data of the project, prices of products among it, or costs credits. */
  write: [
    'createRecord',
    'replaceRecord',
    'updateRecord',
    'deleteRecord',
    'deleteRecords',
    'writeBatch',
    'broadcastMessage',
    'setPresence',
    'importRecords',
    'restoreRecord',
    'shareRecord',
    'unshareRecord',
    'dismissReports',
    'uploadFile',
    'signFile',
    'attachFile',
    'deleteFile',
    'openUpload',
    'completeUpload',
    'createResumable',
    'appendResumable',
    'deleteResumable',
    'createGroup',
    'updateGroup',
    'deleteGroup',
    'updateGroupMember',
    'moderateUser',
    'removeGroupMember',
    'inviteToGroup',
    'revokeGroupInvite',
    'signUp',
    'signIn',
    'createPasskeySignIn',
    'signInWithPasskey',
    'verifyFactor',
    'requestCode',
    'showSignInLink',
    'verifyCode',
    'forgotPassword',
    'resetPassword',
    'verifyEmail',
    'confirmEmailChange',
    'generateText',
    'sendEmail',
    'createCheckout',
    'setProduct',
    'deleteProduct',
  ],
  /** Its project on the control plane. */
  admin: [
    'getProject',
    'listRoles',
    'updateProject',
    'getLimits',
    'setLimits',
    'getConfig',
    'setConfig',
    'listCollections',
    'setCollectionAccess',
    'proposeSchema',
    'renameCollection',
    'deleteCollection',
    'listTrashedCollections',
    'restoreCollection',
    'eraseTrashedCollection',
    'createRestorePoint',
    'deleteRestorePoint',
    'undoChanges',
    'checkAccess',
    'tryAccess',
    'getExposure',
    'listRefusals',
    'listVisits',
    'listUsers',
    'getUser',
    'updateUser',
    'deleteUser',
    'listSignUps',
    'listPrompts',
    'setPrompt',
    'deletePrompt',
    'listMailTemplates',
    'getMailTemplate',
    'setMailTemplate',
    'deleteMailTemplate',
    'previewMailTemplate',
    'listEmails',
    'getSendingState',
    'listProjectFiles',
    'listFileTypes',
  ],
};

/**
 * Fields of the calls above that no key sets, whatever its scopes: money (payments, prices' editors, who spends
 * how much of the owner's credits), roles, and the origins where links and payers may lead.
 */
export const fieldsKeptFromKeys: Readonly<Record<string, readonly string[]>> = {
  updateProject: [
    'settings.payments',
    'settings.productEditors',
    'settings.callers',
    'settings.creditsPerDay',
    'settings.creditsPerMonth',
    'settings.visitorCreditsPerDay',
    'settings.aiPerVisitorPerDay',
    'settings.emailPerVisitorPerDay',
    'settings.uploadsPerVisitorPerDay',
    'settings.mustUse2fa',
    'settings.allowedOrigins',
    'settings.accountPageUrl',
  ],
  updateUser: ['role'],
  moderateUser: ['role'],
};

const scopeOfCalls = new Map(
  keyScopes.flatMap((scope) => callsOfScopes[scope].map((call) => [call, scope] as const)),
);

/** The scope without which a key may not call; null where no key calls, or credentials are not looked at. */
export const neededScope = ({ operationId }: Pick<RouteDefinition, 'operationId'>) =>
  scopeOfCalls.get(operationId) ?? null;

/** Every key may read; old versions of the projects service name no scopes. */
export const hasScope = (scopes: readonly KeyScope[] = ['read', 'write'], needed: KeyScope) =>
  needed === 'read' || scopes.includes(needed);

const isNamed = (body: unknown, path: string): boolean => {
  const [name = '', ...rest] = path.split('.');
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return false;
  return rest.length === 0 || isNamed((body as Record<string, unknown>)[name], rest.join('.'));
};

/** The first field of the body that is kept from keys. */
export const keptField = (
  { operationId }: Pick<RouteDefinition, 'operationId'>,
  body: unknown,
): string | undefined => fieldsKeptFromKeys[operationId]?.find((path) => isNamed(body, path));
