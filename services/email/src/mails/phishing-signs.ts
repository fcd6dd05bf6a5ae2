/**
 * What mails of phishers have in common, in English and German. One alone is in many honest mails: from two on a mail
 * is counted for the operator, or with one that honest mails do not have. None of it refuses a mail.
 */
const signs = {
  /** Names that are borrowed most. */
  brand:
    /\b(paypal|microsoft 365|office 365|outlook web|apple id|icloud|netflix|amazon|dhl|fedex|docusign|metamask|coinbase|binance|whatsapp|instagram|facebook|linkedin|wells fargo|bank of america|sparkasse|volksbank|postbank|commerzbank)\b/iu,
  credentials:
    /\b(verify|confirm|update|validate|provide|re-?enter) your (account|identity|password|card|payment|billing|bank|pin|wallet|login)\b|\b(seed|recovery) phrase\b|\b(bestätigen|verifizieren|aktualisieren) sie ihre? (konto|identität|passwort|daten|karte|zahlungs\w*|bank\w*)\b/iu,
  pressure:
    /\baccount (has been|was|is|will be) (suspended|locked|limited|restricted|closed|deactivated)\b|\bwithin (24|48|72) hours\b|\bunusual (activity|sign-?in|login)\b|\b(final|last) (notice|warning)\b|\bkonto (wurde|wird) (gesperrt|eingeschränkt|geschlossen)\b|\binnerhalb von (24|48|72) stunden\b/iu,
  prize:
    /\byou(’|'| ha)ve won\b|\blottery\b|\binheritance\b|\bclaim your (prize|reward|gift)\b|\bgift cards?\b|\bsie haben gewonnen\b|\berbschaft\b/iu,
  /** To a bare address, in letters of another script, or with a name in front of the host. */
  strangeLink: /https?:\/\/(\d{1,3}(\.\d{1,3}){3}\b|[^\s/"'<>]{0,100}xn--|[^\s/"'<>@]{1,100}@)/iu,
  /** A word of Latin letters with Cyrillic or Greek ones among them, which look the same. */
  mixedScripts:
    /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}]|[\p{Script=Cyrillic}\p{Script=Greek}]\p{Script=Latin}/u,
} as const;

type Sign = keyof typeof signs | 'otherLink';

/** In no honest mail. */
const strong: readonly Sign[] = ['mixedScripts'];

const maxLetters = 20_000;
const maxLinks = 50;
/** Its attributes, and how its words begin. Each part ends where a tag may begin, so that no text is read twice. */
const link = /<a\s([^<>]*)>([^<]{0,300})/giu;
const target = /\bhref\s*=\s*["']?https?:\/\/([^\s/"'?#:]{1,253})/iu;
const address = /^\s*(?:https?:\/\/)?([\w.-]{1,253}\.[a-z]{2,24})(?:[/\s]|$)/iu;

const withoutWww = (host: string) => host.toLowerCase().replace(/^www\./, '');

/** Whether a link shows the address of one host and leads to another. */
const hasOtherLink = (html: string): boolean => {
  let looked = 0;
  for (const [, attributes = '', words = ''] of html.matchAll(link)) {
    if (++looked > maxLinks) break;
    const [, to] = target.exec(attributes) ?? [];
    const [, says] = address.exec(words) ?? [];
    if (to === undefined || says === undefined) continue;
    const [host, shown] = [withoutWww(to), withoutWww(says)];
    if (host !== shown && !host.endsWith(`.${shown}`)) return true;
  }
  return false;
};

const toText = (html: string) => html.replace(/<[^<>]*>/g, ' ').replace(/\s+/g, ' ');

/** Those of a mail that is worth the operator's look; else none. */
export const findPhishingSigns = ({
  subject,
  html,
}: {
  subject: string;
  html: string;
}): string[] => {
  const start = html.slice(0, maxLetters);
  const text = `${subject} ${toText(start)}`;
  const found: Sign[] = (Object.keys(signs) as (keyof typeof signs)[]).filter((sign) =>
    signs[sign].test(sign === 'strangeLink' ? start : text),
  );
  if (hasOtherLink(start)) found.push('otherLink');
  const counts = found.length >= 2 || found.some((sign) => strong.includes(sign));
  return counts ? found : [];
};
