import { z } from 'zod';

/** What users are told by mail of their sign-in. */
export const noticeKinds = [
  'new-device',
  'password-changed',
  'factor-added',
  'factor-removed',
  'passkey-added',
  'passkey-removed',
  'identity-linked',
  'identity-removed',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const mailEvents = {
  /** The platform wants a mail sent to a user of a project. */
  'mail.requested': z.object({
    projectId: z.string(),
    projectNumber: z.number(),
    projectName: z.string(),
    /** SHA-256 of the network address that asked, in hex; absent from events of older versions. */
    ipHash: z.string().optional(),
    to: z.string(),
    name: z.string().nullable(),
    template: z.enum([
      'verify-email',
      'reset-password',
      'group-invite',
      'confirm-new-email',
      'allow-email-change',
      'sign-in-code',
    ]),
    /** Six digits that do what the link does, where the mail has some. */
    code: z.string().optional(),
    /** Of a change of the address, in the mail to the present one. */
    newEmail: z.string().optional(),
    /** Of an invitation: the group's name, and that of who invites. */
    group: z.object({ name: z.string(), invitedBy: z.string().nullable() }).optional(),
    /** The one-time token of the link. */
    token: z.string(),
    expiresAt: z.string(),
  }),
  /** A user of a project, whose address is verified, is to know what happened to their sign-in. */
  'notice.requested': z.object({
    projectId: z.string(),
    projectNumber: z.number(),
    projectName: z.string(),
    to: z.string(),
    name: z.string().nullable(),
    kind: z.enum(noticeKinds),
    /** Which passkey, provider or factor. */
    detail: z.string().nullable(),
    device: z.string().nullable(),
    network: z.string().nullable(),
    at: z.string(),
  }),
  /** A mail is stored and waits to be delivered. */
  'mail.queued': z.object({ projectNumber: z.number().int(), mailId: z.uuid() }),
} as const;
