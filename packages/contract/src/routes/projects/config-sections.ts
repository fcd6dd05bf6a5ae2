import { z } from 'zod';
import { maxRolesWithPowers } from '../../rights/powers.ts';
import { collectionLimits } from '../../rules/collection-limits.ts';
import { recordUpTo } from '../../schemas.ts';
import { maxPrompts, promptName, setPrompt } from '../ai/prompts.ts';
import { roleName } from '../auth/user.ts';
import { mailTemplateName, maxMailTemplates, setMailTemplate } from '../email/mail-templates.ts';
import { maxOnPaidRules, onPaidRuleName, setOnPaidRule } from '../payments/on-paid.ts';
import { maxProducts, productId, setProduct } from '../payments/products.ts';
import { setCollectionAccess } from '../records/collections.ts';
import { collectionName } from '../records/schemas/record-schemas.ts';
import { maxWebhooks, setWebhook, webhookName } from '../webhooks.ts';
import { projectSettings } from './project-settings.ts';
import { loweredLimits } from './projects.ts';
import { setRole } from './roles.ts';

/** Services that keep what an owner sets, in the order in which a file is applied; the last one is never undone. */
export const configParts = ['projects', 'records', 'ai', 'email', 'payments'] as const;
export type ConfigPart = (typeof configParts)[number];

export interface ConfigSection {
  /** What one of its entries is called. */
  thing: string;
  part: ConfigPart;
  /** The calls that read and set one entry by itself: by them keys are judged. */
  readBy: string;
  setBy: string;
  /** Before an entry's name, in `fieldsKeptFromKeys` of `setBy`. */
  keptBelow?: string;
  /** From names to what the body of `setBy` says of one. */
  entries: z.ZodType;
  /** What an entry may leave out, with what that means. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Lists of an entry whose order says nothing. */
  unordered?: readonly string[];
}

/** As many as a project may have. */
const maxCollections = 100;

/** All of them: the call changes those that it names. */
const limits = z
  .strictObject(collectionLimits.shape)
  .refine((values) => Object.keys(values).length > 0, 'needs a limit')
  .optional();

const collection = setCollectionAccess.body.required({ access: true }).extend({ limits });

/** A field that the call takes and a file leaves out; the compiler wants each of them here. */
export const collectionDefaults = {
  indexes: [],
  unique: [],
  search: false,
  schema: null,
  onErase: null,
  limits: null,
  history: true,
} satisfies Required<Omit<z.input<typeof setCollectionAccess.body>, 'access'>>;

/** Stock is counted by sales: a file would bring back what was sold. */
const product = setProduct.body.omit({ stock: true });

/** docs/owners.md, "Config as a file": what an owner sets, each entry as the call takes it that sets it alone. */
export const configSections = {
  settings: {
    thing: 'setting',
    part: 'projects',
    readBy: 'getProject',
    setBy: 'updateProject',
    keptBelow: 'settings',
    entries: projectSettings,
  },
  limits: {
    thing: 'limit',
    part: 'projects',
    readBy: 'getProject',
    setBy: 'setLimits',
    entries: loweredLimits,
  },
  collections: {
    thing: 'collection',
    part: 'records',
    readBy: 'listCollections',
    setBy: 'setCollectionAccess',
    entries: recordUpTo(maxCollections, z.record(collectionName, collection)),
    defaults: collectionDefaults,
    unordered: ['indexes', 'unique', 'search'],
  },
  roles: {
    thing: 'role',
    part: 'projects',
    readBy: 'listRoles',
    setBy: 'setRole',
    entries: recordUpTo(maxRolesWithPowers, z.record(roleName, setRole.body)),
    unordered: ['may'],
  },
  prompts: {
    thing: 'prompt',
    part: 'ai',
    readBy: 'listPrompts',
    setBy: 'setPrompt',
    entries: recordUpTo(maxPrompts, z.record(promptName, setPrompt.body)),
  },
  mailTemplates: {
    thing: 'mail template',
    part: 'email',
    readBy: 'listMailTemplates',
    setBy: 'setMailTemplate',
    entries: recordUpTo(maxMailTemplates, z.record(mailTemplateName, setMailTemplate.body)),
    defaults: { callers: ['users'], fields: {} },
    unordered: ['callers'],
  },
  products: {
    thing: 'product',
    part: 'payments',
    readBy: 'listProducts',
    setBy: 'setProduct',
    entries: recordUpTo(maxProducts, z.record(productId, product)),
  },
  onPaid: {
    thing: 'rule',
    part: 'payments',
    readBy: 'listOnPaidRules',
    setBy: 'setOnPaidRule',
    entries: recordUpTo(maxOnPaidRules, z.record(onPaidRuleName, setOnPaidRule.body)),
  },
  webhooks: {
    thing: 'webhook',
    part: 'projects',
    readBy: 'listWebhooks',
    setBy: 'setWebhook',
    entries: recordUpTo(maxWebhooks, z.record(webhookName, setWebhook.body)),
    unordered: ['on'],
  },
} as const satisfies Record<string, ConfigSection>;

export type ConfigSectionName = keyof typeof configSections;
export const configSectionNames = Object.keys(configSections) as ConfigSectionName[];

/** From names to what the owner has set. */
export type ConfigEntries = Readonly<Record<string, unknown>>;
/** A section that is missing is left alone. */
export type ProjectConfig = { readonly [Name in ConfigSectionName]?: ConfigEntries | undefined };
