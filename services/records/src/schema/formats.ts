import { isIPv4, isIPv6 } from 'node:net';

const datePattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const timePattern = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

const daysIn = (year: number, month: number): number =>
  new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();

/** RFC 3339, `full-date`. */
const isDate = (text: string): boolean => {
  const [, year, month, day] = (datePattern.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
};

const minutesOfDay = 24 * 60;

/** RFC 3339, `full-time`: a leap second is the last of a day in UTC. */
const isTime = (text: string): boolean => {
  const [, hours, minutes, seconds, sign, offsetHours = '0', offsetMinutes = '0'] =
    timePattern.exec(text) ?? [];
  if (hours === undefined) return false;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return false;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return false;
  if (Number(seconds) < 60) return true;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  const inUtc = Number(hours) * 60 + Number(minutes) - offset;
  return (inUtc + 2 * minutesOfDay) % minutesOfDay === minutesOfDay - 1;
};

const isDateTime = (text: string): boolean =>
  /^.{10}[Tt]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));

/** RFC 5321 has no longer one, and RFC 3986 none at all. */
const maxEmailLength = 320;
const maxUriLength = 8192;

const dotAtom = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const quotedText = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/;
const domainName =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;

const isMailDomain = (domain: string): boolean => {
  if (!domain.startsWith('[')) return domainName.test(domain);
  const address = domain.endsWith(']') ? domain.slice(1, -1) : '';
  return address.startsWith('IPv6:') ? isIPv6(address.slice(5)) : isIPv4(address);
};

/** RFC 5321, `Mailbox`. */
const isEmail = (text: string): boolean => {
  if (text.length > maxEmailLength) return false;
  const at = text.lastIndexOf('@');
  const name = text.slice(0, Math.max(0, at));
  return (dotAtom.test(name) || quotedText.test(name)) && isMailDomain(text.slice(at + 1));
};

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const segment = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*$/;
const userInfo = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:]|%[0-9A-Fa-f]{2})*$/;
const registeredName = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;
const laterAddress = /^v[0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+$/;

const isHost = (host: string): boolean => {
  if (!host.startsWith('[')) return registeredName.test(host);
  const address = host.slice(1, -1);
  return host.endsWith(']') && (isIPv6(address) || laterAddress.test(address));
};

const isAuthority = (authority: string): boolean => {
  const at = authority.lastIndexOf('@');
  const [, host = '', port = ''] =
    /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority.slice(at + 1)) ?? [];
  const hasHost = host !== '' || authority.slice(at + 1) === '';
  return (
    userInfo.test(authority.slice(0, Math.max(0, at))) &&
    hasHost &&
    isHost(host) &&
    /^\d*$/.test(port)
  );
};

/** RFC 3986, `URI`. */
const isUri = (text: string): boolean => {
  const [start] = text.length <= maxUriLength ? (scheme.exec(text) ?? []) : [];
  if (start === undefined) return false;
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  const rest = text.slice(start.length, hash < 0 ? undefined : hash);
  if (!rest.startsWith('//')) return segment.test(rest) && segment.test(fragment);
  const [authority = ''] = /^[^/?]*/.exec(rest.slice(2)) ?? [];
  const path = rest.slice(2 + authority.length);
  return isAuthority(authority) && segment.test(path) && segment.test(fragment);
};

const uuid = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

const formats = {
  date: { fits: isDate, example: 'a date such as 2026-11-27' },
  'date-time': { fits: isDateTime, example: 'a time such as 2026-11-27T13:00:00Z' },
  email: { fits: isEmail, example: 'an e-mail address' },
  uri: { fits: isUri, example: 'an address such as https://example.org/page' },
  uuid: { fits: (text: string) => uuid.test(text), example: 'a UUID' },
};

export type FormatName = keyof typeof formats;
export const formatNames = Object.keys(formats) as FormatName[];

export const fitsFormat = (name: FormatName, text: string): boolean => formats[name].fits(text);

/** What a text of this format is, for a message. */
export const describeFormat = (name: FormatName): string => formats[name].example;
