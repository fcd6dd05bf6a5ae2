import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];

interface Property {
  name: string;
  whole: SyntaxNode;
  value: SyntaxNode | null;
}

const readName = (state: EditorState, node: SyntaxNode): string | undefined => {
  try {
    return String(JSON.parse(state.sliceDoc(node.from, node.to)));
  } catch {
    return undefined;
  }
};

const propertiesOf = (state: EditorState, node: SyntaxNode): Property[] =>
  node.getChildren('Property').flatMap((whole) => {
    const nameNode = whole.getChild('PropertyName');
    const name = nameNode ? readName(state, nameNode) : undefined;
    return name === undefined ? [] : [{ name, whole, value: whole.lastChild }];
  });

const longest = (found: readonly Property[]): Property | undefined =>
  found.reduce<Property | undefined>(
    (best, one) => (best && best.name.length >= one.name.length ? best : one),
    undefined,
  );

/**
 * Where in the JSON a message of the API means: `schema.properties.title.type must be …`, where `schema` is the
 * whole of it. Undefined where the message names no place.
 */
export const findProblem = (
  state: EditorState,
  root: string,
  message: string,
): { from: number; to: number } | undefined => {
  if (!message.startsWith(root)) return undefined;
  let node: SyntaxNode | null = syntaxTree(state).topNode.firstChild;
  let rest = message.slice(root.length);
  let place: SyntaxNode | null = node;
  while (node && rest.startsWith('.')) {
    const step = longest(
      propertiesOf(state, node).filter(({ name }) => rest.slice(1).startsWith(name)),
    );
    if (!step) break;
    place = step.whole;
    node = step.value;
    rest = rest.slice(1 + step.name.length);
  }
  const [, named] = /^ (?:has|names the field) ("(?:[^"\\]|\\.)*")/.exec(rest) ?? [];
  const inside =
    node && named && propertiesOf(state, node).find(({ name }) => JSON.stringify(name) === named);
  const { from, to } = (inside ? inside.whole : place) ?? {};
  return from === undefined || to === undefined ? undefined : { from, to };
};
