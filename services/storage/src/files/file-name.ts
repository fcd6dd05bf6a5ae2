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

/** A name that is safe to show and to save: base name, NFC, at most 255 long. */
export const cleanFileName = (given: string): string => {
  const base = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1);
  const clean = base.toWellFormed().normalize('NFC').replace(invisible, '').trim();
  const name = shortened(clean);
  return /^\.*$/.test(name) ? unnamed : name;
};
