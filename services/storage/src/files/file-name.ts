const maxLength = 255;
const longestExtension = 20;
const unnamed = 'file';

/** Control characters, and those that are not shown or change the direction of text. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

const shortened = (name: string): string => {
  if (name.length <= maxLength) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= longestExtension ? name.slice(dot) : '';
  const cut = name.slice(0, maxLength - extension.length);
  // Not in the middle of a surrogate pair.
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)) + extension;
};

const brands =
  'paypal|microsoft|office.?365|outlook|apple|icloud|netflix|amazon|dhl|fedex|docusign|metamask|coinbase|binance|facebook|instagram|linkedin|sparkasse|volksbank|postbank|commerzbank';
const asks = 'log.?in|sign.?in|verify|verification|webmail|wallet|password|passwort|konto';

/** What names of harmful files have in common. They are counted for the operator; no file is refused for it. */
const signs = {
  /** A page that poses as somebody's sign-in. */
  signInPage: new RegExp(`(${brands}|${asks}).{0,200}\\.(x?html?|svg)$`, 'i'),
  /** A program that looks like a document. */
  doubleExtension:
    /\.(pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|txt|mp4)[ .]{1,50}(exe|scr|bat|cmd|com|pif|js|vbs|lnk|msi|jar|hta|html?)$/i,
  /** What Windows runs, and what nobody gives to their users. */
  script: /\.(scr|pif|hta|vbs|vbe|jse|wsf|lnk|ps1|bat|cmd)$/i,
} as const;

export const findFileNameSigns = (name: string): string[] =>
  Object.entries(signs)
    .filter(([, sign]) => sign.test(name))
    .map(([sign]) => sign);

/** A name that is safe to show and to save: base name, NFC, at most 255 long. */
export const cleanFileName = (given: string): string => {
  const base = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1);
  const clean = base.toWellFormed().normalize('NFC').replace(invisible, '').trim();
  const name = shortened(clean);
  return /^\.*$/.test(name) ? unnamed : name;
};
