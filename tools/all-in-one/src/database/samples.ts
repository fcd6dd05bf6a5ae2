/** The page takes 2,000 characters, of up to 3 bytes each. */
export const guestbook = {
  access: 'public-read',
  limits: { maxBytes: 8000, perUser: 100, perUserPerHour: 30 },
};

/** Of the guestbook, the last one is shown first. */
export const entries = [
  { author: 'Grace', text: 'The tea was excellent. We will come again!' },
  { author: 'Linus', text: 'Found the place by accident and stayed all afternoon.' },
  { author: 'Ada', text: 'Welcome! Sign up above and leave a few words.' },
];

/** Of the shop; amounts in cents. */
export const products = [
  {
    id: 'mug',
    name: 'Mug',
    amount: 1250,
    stock: 40,
    description: 'Holds three tenths of a litre and goes into the dishwasher.',
  },
  {
    id: 'assam',
    name: 'Assam, 100 g',
    amount: 890,
    stock: 25,
    description: 'Strong and malty, for the morning.',
  },
  {
    id: 'teapot',
    name: 'Teapot',
    amount: 3400,
    stock: 6,
    description: 'For four cups. The lid stays on while you pour.',
  },
];

const workers = ['group:owner', 'group:admin', 'group:member'];
/** Of the board: a `viewer` of a team only looks. */
export const boardRules = { read: ['group'], create: workers, change: workers };

/** Of the board. */
export const cards = [
  { title: 'Drag this card to another column', column: 'todo' },
  { title: 'Invite somebody to the team', column: 'todo' },
  { title: 'Read what examples/board/board.js does', column: 'doing' },
  { title: 'Start Backlot', column: 'done' },
];
