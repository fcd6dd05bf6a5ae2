import type { Tag } from './language.ts';
import { TemplateProblem } from './problem.ts';

/** Of Unicode's private use area: `filler`, and from `first` on one character for each tag. */
const filler = '\uE000';
const first = 0xe100;
const privateUse = /[\uE000-\uF8FF]/;
const allPrivateUse = /[\uE000-\uF8FF]+/g;

export type Markers = ReturnType<typeof createMarkers>;

/**
 * The text with a marker in place of each of its tags, as long as the tag, so that a parser of HTML sees where they
 * stand and all places stay the same.
 * @throws TemplateProblem where the text has such characters itself
 */
export const createMarkers = (source: string, tags: readonly Tag[]) => {
  const own = privateUse.exec(source);
  if (own) throw new TemplateProblem('it has a character of the private use area', own.index);
  let text = '';
  let at = 0;
  tags.forEach(({ start, end }, index) => {
    const marker = String.fromCharCode(first + index).padEnd(end - start, filler);
    text += source.slice(at, start) + marker;
    at = end;
  });
  text += source.slice(at);

  const find = (part: string): Tag[] =>
    [...part].flatMap((character) => tags[character.charCodeAt(0) - first] ?? []);
  return {
    text,
    /** The tags in a part of it. */
    find,
    /** Whether a part is one tag and nothing else. */
    isAlone: (part: string) => find(part).length === 1 && part.replace(allPrivateUse, '') === '',
    /** A part as the template has it. */
    show: (part: string) =>
      part.replace(allPrivateUse, (run) =>
        find(run)
          .map(({ name }) => `{{${name}}}`)
          .join(''),
      ),
  };
};
