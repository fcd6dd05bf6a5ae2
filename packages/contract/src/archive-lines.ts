import { z } from 'zod';
import { KIB } from './define-route.ts';
import { nobody } from './events/users.ts';
import { roleName, name as userName } from './routes/auth/user.ts';
import { maxIdentities } from './routes/oauth/identities.ts';
import { providerName } from './routes/oauth/provider-fields.ts';
import { setCollectionAccess } from './routes/records/collections.ts';
import { collectionName } from './routes/records/schemas/record-schemas.ts';
import { displayName, jsonObject, text, timestamp, uuid } from './schemas.ts';
import { email } from './texts/email-address.ts';

const base64url = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^[A-Za-z0-9_-]*$/, 'must be base64url');

/** As `GET …/users/<user id>` has them, and what only an archive has. */
const user = z.strictObject({
  // Shares with addresses that nobody has shown to be theirs are of that id.
  id: uuid.refine((id) => id !== nobody, 'is nobody’s id'),
  /** Null: a guest. */
  email: email.nullable(),
  name: userName.nullable(),
  avatar: uuid.nullable(),
  role: roleName,
  emailVerified: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
  profile: jsonObject(8 * KIB),
  publicProfile: jsonObject(2 * KIB),
  blocked: z
    .strictObject({
      since: timestamp,
      until: timestamp.nullable(),
      reason: z.string().max(500).nullable(),
    })
    .optional(),
  /** Shows to who has written it that the address was verified. */
  verifiedBy: z.string().max(100).optional(),
  /** Argon2id in the PHC string format, where it was asked for. */
  passwordHash: z.string().max(300).optional(),
  /** Accounts elsewhere. */
  identities: z
    .array(
      z.strictObject({
        provider: providerName,
        label: displayName(40),
        issuer: text(1, 500),
        subject: text(1, 255),
        email: email.nullable(),
        createdAt: timestamp,
      }),
    )
    .max(maxIdentities)
    .optional(),
  /** Their public halves; the others are on devices. */
  passkeys: z
    .array(
      z.strictObject({
        credentialId: base64url(1364),
        publicKey: base64url(2732),
        counter: z.int().min(0).max(0xffff_ffff),
        transports: z.array(z.string().max(40)).max(10),
        host: text(1, 253),
        name: displayName(100),
        createdAt: timestamp,
      }),
    )
    .max(20)
    .optional(),
});

const group = z.strictObject({ id: uuid, name: displayName(100), createdAt: timestamp });

const member = z.strictObject({ groupId: uuid, userId: uuid, role: roleName, joinedAt: timestamp });

/** What of a collection is there beside its entry in the config: users make some that have none. */
const collection = z.strictObject({
  /** By which files of its records name it. */
  number: z.int().min(1).max(1_000_000_000),
  name: collectionName,
  access: setCollectionAccess.body.shape.access.unwrap(),
  madeBy: z.enum(['user', 'visitor']).nullable(),
});

const share = z.strictObject({
  record: z.strictObject({ collection: collection.shape.number, id: uuid }),
  /** Nobody's while an address has none. */
  userId: uuid,
  /** With which it was shared; empty where with the user. */
  email: z.union([z.literal(''), email]),
  may: z.enum(['read', 'change']),
  sharedBy: uuid.nullable(),
  createdAt: timestamp,
});

const file = z.strictObject({
  id: uuid,
  name: z.string().min(1).max(255),
  type: z.string().max(200),
  size: z.int().min(0),
  visibility: z.enum(['public', 'private']),
  ownerId: uuid.nullable(),
  groupId: uuid.nullable(),
  record: share.shape.record.nullable(),
  createdAt: timestamp,
});

/** The lines of an archive. Those of records are as `GET /db/<collection>/<id>` answers the owner. */
export const archiveLines = { user, group, member, collection, share, file };

export type ArchivedUser = z.infer<typeof user>;
export type ArchivedCollection = z.infer<typeof collection>;
export type ArchivedShare = z.infer<typeof share>;
export type ArchivedFile = z.infer<typeof file>;

/** First in an archive: what it is, and what it has beside users, records and config. */
export const archiveManifest = z.object({
  format: z.literal('backlot-project'),
  version: z.literal(1),
  project: z.object({ id: z.string().max(100), name: displayName(100) }),
  includes: z.object({ records: z.boolean(), passwords: z.boolean(), files: z.boolean() }),
});

export type ArchiveManifest = z.infer<typeof archiveManifest>;
