/**
 * What a reader of the API's page may send as it stands, to a project such as the demo: bodies by operationId, in
 * an order in which they work one after the other; a journey sends them.
 * Ids and tokens that only an answer or a mail brings are such as they look.
 */
const password = 'correct horse battery';
const email = 'ada@example.org';
const token = 'the-token-behind-the-mailed-link';

export const bodyExamples: Readonly<Record<string, unknown>> = {
  signUp: { email, password, name: 'Ada' },
  signIn: { email, password },
  requestCode: { email },
  verifyCode: { token },
  updateMe: { name: 'Ada Lovelace', profile: { theme: 'dark' } },
  changeEmail: { email: 'ada.lovelace@example.org', password },
  confirmEmailChange: { token },
  forgotPassword: { email },
  changePassword: { currentPassword: password, newPassword: 'battery horse correct' },
  resetPassword: { token, password: 'battery horse correct' },
  verifyEmail: { token },

  createGroup: { name: 'Red team' },
  updateGroup: { name: 'Blue team' },
  inviteToGroup: { email: 'bob@example.org', role: 'member' },
  updateGroupMember: { role: 'owner' },
  showInvitation: { token },
  joinGroup: { token },

  createRecord: { data: { title: 'Buy milk', stars: 2, done: false } },
  updateRecord: { data: { done: true }, inc: { stars: 1 } },
  replaceRecord: { data: { title: 'Buy oat milk', stars: 2, done: false } },
  broadcastMessage: { channel: 'room:1', data: { typing: true } },
  setPresence: {
    stream: '018f0000-0000-4000-8000-000000000001',
    channel: 'room:1',
    data: { name: 'Ada' },
  },
  writeBatch: { create: [{ data: { title: 'Buy milk' } }, { data: { title: 'Call Bob' } }] },

  tryAccess: { as: 'stranger', access: 'private' },

  generateText: { messages: [{ role: 'user', content: 'Name a teapot.' }], maxTokens: 200 },
  openUpload: { name: 'photo.jpg', size: 120_000 },
  signFile: { expiresIn: 3600 },
  attachFile: { collection: 'messages', recordId: '018f0000-0000-7000-8000-000000000001' },
  sendEmail: { to: email, subject: 'Hello', html: '<p>Your teapot is ready.</p>' },

  createCheckout: {
    items: [{ name: 'Teapot', amount: 1999, quantity: 1 }],
    returnUrl: 'http://localhost:8080/examples/shop/receipt.html',
  },
  setProduct: { name: 'Mug', amount: 1200, currency: 'usd', stock: 10 },

  createProject: { name: 'Todo list' },
  updateProject: { name: 'Todo list', settings: { emailPerVisitorPerDay: 50 } },
  setCollectionAccess: {
    access: {
      read: ['owner', 'shared'],
      create: ['users'],
      change: ['owner', 'shared'],
      delete: ['owner'],
    },
  },
  shareRecord: { email: 'bob@example.org', may: 'read' },
  reportRecord: { reason: 'Insults a guest' },
  createKey: { name: 'agent', scopes: ['read'] },
  setRole: { may: ['block-users', 'see-users'] },
  setLimits: { read: { perCaller: 600 } },
  createPreview: { records: true, files: true },
  promotePreview: { dryRun: true },
  setConfig: { limits: { read: { perCaller: 600 } } },
  addOrigin: { origin: 'https://app.example.org' },
  setWebhook: {
    url: 'https://app.example.org/hooks',
    on: ['payment.paid', 'record.created:orders'],
  },
  replayWebhook: { since: '2026-01-31T12:00:00.000Z' },
  setPrompt: { system: 'You are a friendly guide to teapots.' },
  setStripeSecret: { testCheckout: true },
  updateUser: { role: 'staff' },
  moderateUser: { blocked: true, reason: 'Spam in the guest book' },
  signOut: {},
};

/** Required parameters whose values are names and not ids. */
export const parameterExamples: Readonly<Record<string, unknown>> = {
  projectId: 'demo',
  collection: 'todos',
  productId: 'mug',
  name: 'welcome',
  as: 'anonymous',
};
