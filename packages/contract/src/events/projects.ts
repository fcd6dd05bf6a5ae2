import { z } from 'zod';
import { givenRoles } from '../rights/member-roles.ts';
import { platformActed } from './acts.ts';
import { appEvent, recordEventTypes } from './app-events.ts';
import { findingKinds, mostSeenAtOnce, mostSigns, seenFinding } from './findings.ts';

export const projectEvents = {
  /** A project's name, status, settings or limits changed, or it was created or restored. */
  'project.changed': z.object({ projectId: z.string(), projectNumber: z.number() }),
  /** A deleted project's 30 days are over: every service erases what it holds of it. */
  'project.erased': z.object({ projectId: z.string(), projectNumber: z.number() }),
  /** A secret key was revoked; `keyHash` is the SHA-256 of the key in base64url. */
  'key.revoked': z.object({
    projectId: z.string(),
    keyHash: z.string(),
    /** Its id, and its project's number; absent from events of older versions. */
    keyId: z.string().optional(),
    projectNumber: z.number().optional(),
  }),
  /** An operator's token was revoked; `tokenHash` is its SHA-256 in base64url. */
  'operator-token.revoked': z.object({ tokenHash: z.string() }),
  /** Somebody is to become a member of a project, with the one-time token of the link. */
  'member.invited': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    /** SHA-256 of the network address that asked, in hex. */
    ipHash: z.string(),
    to: z.string(),
    role: z.enum(givenRoles),
    /** Address of who invites. */
    invitedBy: z.string().nullable(),
    token: z.string(),
    expiresAt: z.string(),
  }),
  /** Something of the control plane was changed: a line of the audit log. */
  'platform.acted': platformActed,
  /** A service has seen signs of abuse in a project, or of more being open than is meant. */
  'finding.seen': z.object({
    projectNumber: z.number().int(),
    seen: z.array(seenFinding).min(1).max(mostSeenAtOnce),
  }),
  /** The operator has the owner told of a finding: once for each. */
  'finding.told': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    kind: z.enum(findingKinds),
    /** The collection of an exposure, else empty. */
    subject: z.string(),
    signs: z.array(z.string()).max(mostSigns),
    calls: z.int(),
    since: z.string(),
  }),
  /** Something happened in an app that its owner may want to be told of. */
  'app.event': appEvent,
  /** What webhooks of a project want to know of its records: all of it; the highest version holds. */
  'webhooks.changed': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    version: z.number().int(),
    wants: z
      .array(
        z.object({
          webhook: z.string(),
          types: z.array(z.enum(recordEventTypes)),
          /** Null: every one. */
          collection: z.string().nullable(),
          where: z.record(z.string(), z.unknown()).nullable(),
          /** What was written before is not told. */
          since: z.string(),
        }),
      )
      .max(500),
  }),
  /** A webhook was switched off: its owner is told. */
  'webhook.stopped': z.object({
    projectId: z.string(),
    projectNumber: z.number().int(),
    projectName: z.string(),
    ownerId: z.uuid(),
    webhook: z.string(),
    /** Of its address, no more. */
    host: z.string(),
    reason: z.string(),
  }),
} as const;
