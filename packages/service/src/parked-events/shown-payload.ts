import { withoutSecrets } from '@backlot/http';

const secretNames = /token|secret|password|code|hash|session|cookie|authorization/i;
const hidden = '…';
/** Deeper levels are not shown. */
const mostLevels = 16;

/** What an event says, without what opens something and without addresses. */
export const showPayload = (value: unknown, levels = mostLevels): unknown => {
  if (typeof value === 'string') return withoutSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return hidden;
  if (Array.isArray(value)) return value.map((item) => showPayload(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      secretNames.test(name) && item !== null ? hidden : showPayload(item, levels - 1),
    ]),
  );
};
