/** What a value looks like that strangers had better not read. */
export const personalKinds = {
  email: 'e-mail addresses',
  phone: 'phone numbers',
  card: 'card numbers',
  secret: 'passwords or tokens',
} as const;
export type PersonalKind = keyof typeof personalKinds;

const email = /^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}\.[a-z]{2,24}$/i;
/** With the country, or with a leading zero and a separator: `+49 30 1234567`, `(030) 123 4567`, `030/1234567`. */
const phone = /^(\+|00)[1-9][\d ()./-]{6,20}$|^\(?0\d{1,5}\)?[ /-]\d[\d ./-]{4,14}$/;
const card = /^[3-6](?:[ -]?\d){12,18}$/;
/** A JSON Web Token, keys as several providers write them, hashes of passwords, keys in PEM. */
const secret =
  /^eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*$|^(sk|rk|pk|whsec|ghp|gho|glpat|xox[abp]|AKIA|bk)[-_][\w-]{16,}$|^AKIA[A-Z0-9]{16}$|^\$(2[aby]|argon2\w*|scrypt)\$|^-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** By Luhn's sum, which one number of ten has by chance. */
const isCard = (text: string): boolean => {
  if (!card.test(text)) return false;
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number);
  const sum = digits.reduce((total, digit, place) => {
    const doubled = place % 2 === 1 ? 2 * digit : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
};

const maxTextLength = 4096;
const maxValues = 50;

const textKind = (text: string): PersonalKind | undefined => {
  if (text.length < 6 || text.length > maxTextLength) return undefined;
  if (email.test(text)) return 'email';
  if (isCard(text)) return 'card';
  if (phone.test(text)) return 'phone';
  return secret.test(text) ? 'secret' : undefined;
};

/** What a field's value looks like, or one inside of it; undefined where nothing personal. */
export const personalKind = (value: unknown): PersonalKind | undefined => {
  const left = [value];
  for (let seen = 0; left.length > 0 && seen < maxValues; seen++) {
    const next = left.shift();
    if (typeof next === 'object' && next !== null)
      left.push(...Object.values(next).slice(0, maxValues));
    const kind = typeof next === 'string' ? textKind(next.trim()) : undefined;
    if (kind !== undefined) return kind;
  }
  return undefined;
};
