import {
  ApiError,
  type ConfigChange,
  type ConfigSection,
  type ConfigSectionName,
  fieldsKeptFromKeys,
  hasScope,
  type KeyScope,
  neededScope,
  type ProjectConfig,
  projectRoutes,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';

const sections: Readonly<Record<ConfigSectionName, ConfigSection>> = projectRoutes.configSections;

/** A gateway of before does not tell them: what the call itself takes. */
const readScopes = ({ keyScopes }: Identity) => (keyScopes ?? ['read', 'admin']) as KeyScope[];

const isOpen = (identity: Identity, operationId: string): boolean => {
  const needed = neededScope({ operationId });
  return needed !== null && hasScope(readScopes(identity), needed);
};

/** The sections that this caller reads by single calls too. */
export const visibleTo = (identity: Identity, config: ProjectConfig): ProjectConfig => {
  if (identity.caller !== 'key') return config;
  const names = projectRoutes.configSectionNames;
  return Object.fromEntries(
    names
      .filter((name) => isOpen(identity, sections[name].readBy))
      .flatMap((name) => (config[name] ? [[name, config[name]]] : [])),
  );
};

const refusal = (place: string, hint: string) =>
  new ApiError('forbidden', `"${place}": this key may not set it.`, { hint });

/** A key changes what it may change by single calls. @throws ApiError forbidden that names the first other */
export const checkKey = (identity: Identity, changes: readonly ConfigChange[]): void => {
  if (identity.caller !== 'key') return;
  for (const { section, name } of changes) {
    const { setBy, keptBelow } = sections[section];
    const needed = neededScope({ operationId: setBy });
    const place = `${section}.${name}`;
    const keptAt = keptBelow === undefined ? name : `${keptBelow}.${name}`;
    const isKept = fieldsKeptFromKeys[setBy]?.some(
      (path) => path === keptAt || path.startsWith(`${keptAt}.`),
    );
    if (needed === null || isKept)
      throw refusal(place, 'No secret key may; the owner of the project can.');
    if (!hasScope(readScopes(identity), needed))
      throw refusal(place, `It takes a key with the scope "${needed}".`);
  }
};
