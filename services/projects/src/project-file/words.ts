import {
  type ConfigChange,
  type ConfigSection,
  type ConfigSectionName,
  projectRoutes,
  type ShownConfigChange,
} from '@backlot/contract';

const sections: Readonly<Record<ConfigSectionName, ConfigSection>> = projectRoutes.configSections;

/** Of a value, in a sentence. */
const maxLetters = 160;

const short = (value: unknown): string => {
  if (value === undefined) return 'not said';
  const text = JSON.stringify(value);
  return text.length > maxLetters ? `${text.slice(0, maxLetters)}…` : text;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `"access" is "private" (was "shared")`, for each field that differs. */
const describeFields = (
  { defaults = {} }: ConfigSection,
  from: Record<string, unknown>,
  to: Record<string, unknown>,
): string => {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  );
  const value = (entry: Record<string, unknown>, name: string) =>
    short(entry[name] ?? defaults[name]);
  return names
    .map((name) => `"${name}" is ${value(to, name)} (was ${value(from, name)})`)
    .join('; ');
};

const describe = ({ section, name, from, to }: ConfigChange, action: string): string => {
  const about = sections[section];
  const { thing } = about;
  const subject = `${thing[0]?.toUpperCase()}${thing.slice(1)} "${name}"`;
  // A setting always means something.
  const isSaid = section === 'settings' || section === 'limits';
  if (action === 'left')
    return `${subject} stays as it is, because it has records. To delete it with them: DELETE …/collections/${name}.`;
  if (action === 'delete')
    return isSaid
      ? `${subject} has its default again (was ${short(from)}).`
      : `${subject} is deleted.`;
  if (action === 'create')
    return isSaid
      ? `${subject} is ${short(to)} (was its default).`
      : `${subject} is made: ${short(to)}.`;
  if (isObject(from) && isObject(to)) return `${subject}: ${describeFields(about, from, to)}.`;
  return `${subject} is ${short(to)} (was ${short(from)}).`;
};

/** @param isLeft whether it was to go and stays */
export const showChange = (change: ConfigChange, isLeft: boolean): ShownConfigChange => {
  const { section, name, from, to } = change;
  const action = isLeft ? 'left' : to === null ? 'delete' : from === null ? 'create' : 'change';
  return {
    section,
    kind: sections[section].thing,
    name,
    action,
    from,
    to: isLeft ? from : to,
    text: describe(change, action),
  };
};
