import { distance } from 'fastest-levenshtein';

/** What other backends call it. Written as `plain` leaves names: lower case, letters and digits. */
const synonyms: Record<string, string> = {
  where: 'filter filters query search selector condition conditions eq',
  search: 'q find text keyword keywords term terms fulltext',
  sort: 'order orderby sortby ordering sortorder direction',
  limit: 'perpage pagesize take size max maxresults top first',
  total: 'count totalcount withcount counttotal',
  fields: 'select columns projection only pick attributes',
  include: 'expand populate embed relations with join',
  merge: 'deep mergedeep',
  offset: 'page skip start from pagenumber',
  cursor: 'after pagetoken nextcursor next startafter continuation continuationtoken',
  mine: 'own owner ownerid my me self user userid',
  data: 'record fields values attributes document body item json payload set',
  inc: 'increment increments',
  create: 'insert inserts creates add',
  update: 'updates patch changes',
  delete: 'deletes remove ids',
  unset: 'remove removed',
  group: 'groupby by',
  email: 'mail username login user identifier',
  password: 'pass passwd pwd secret',
  name: 'fullname displayname username title label',
  newPassword: 'password newpass',
  currentPassword: 'oldpassword',
  messages: 'input history conversation contents',
  content: 'text message parts',
  system: 'instructions systemprompt systeminstruction',
  json: 'responseformat responseschema schema responsejsonschema outputschema',
  maxTokens: 'maxcompletiontokens maxoutputtokens',
  to: 'recipient recipients email address',
  subject: 'title',
  html: 'body text content message',
  items: 'lineitems products cart',
  amount: 'price unitamount cost total',
  quantity: 'qty count',
  returnUrl: 'successurl cancelurl redirecturl redirect callbackurl url',
  session_id: 'id checkoutid',
  visibility: 'access public private ispublic isprivate acl permission permissions',
  access: 'preset rule rules acl permission permissions visibility',
  expiresIn: 'ttl seconds duration expiry',
};

/** Without case and punctuation: `send_at` and `sendAt` are one. */
export const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const isSynonym = (name: string, known: string) =>
  Object.hasOwn(synonyms, known) && synonyms[known]?.split(' ').includes(name);

const maxNameLength = 40;

/** What a caller has sent as it may stand in a header or a message: at most 40 characters. */
export const printable = (name: string): string => {
  const text = name.replace(/[^\x20-\x7e]|["\\]/g, '?');
  return text.length > maxNameLength ? `${text.slice(0, maxNameLength - 3)}...` : text;
};

/** The known name that was meant: by what others call it, or by a slip of the pen. */
export const nearestName = (name: string, known: readonly string[]): string | undefined => {
  const meant = plain(name.slice(0, maxNameLength));
  if (meant === '') return undefined;
  const synonym = known.find((candidate) => isSynonym(meant, candidate));
  if (synonym !== undefined) return synonym;
  // Two slips in four letters make another word: "done" is not "mine".
  const maxDistance = meant.length < 5 ? Math.min(1, Math.floor(meant.length / 2)) : 2;
  const [nearest] = known
    .map((candidate) => ({ candidate, far: distance(meant, plain(candidate)) }))
    .filter(({ far }) => far <= maxDistance)
    .sort((a, b) => a.far - b.far);
  return nearest?.candidate;
};
