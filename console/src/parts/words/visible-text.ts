/** Characters that turn the letters after them round: `gnp.exe` would be read as `exe.png`. */
const turning = /[\u202A-\u202E\u2066-\u2069]/g;

/** Beside those, what hides or does nothing that is seen. */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are meant
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;

const codeName = (character: string) =>
  `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** What people wrote, in the order in which its letters stand. */
export const inOrder = (text: string): string => text.replace(turning, codeName);

/** A value to the letter, in one line. */
export const visibleText = (text: string): string =>
  text.replace(unseen, codeName).replace(/\r?\n/g, ' ↵ ').replaceAll('\t', ' → ');
