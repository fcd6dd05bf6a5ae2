import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { linter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { findProblem } from './find-problem.ts';

const highlight = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-key)' },
  { tag: tags.string, color: 'var(--json-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--json-number)' },
]);

const findMistakes = jsonParseLinter();

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--canvas)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { font: 'var(--text-small) var(--mono)', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--faint)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--selected) !important',
  },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
  },
});

/** A refusal of the API that names its place, `root` being the whole text. */
export interface Refusal {
  root: string;
  message: string;
}

export interface Editing {
  text: string;
  label: string;
  /** Shown while there is no text. */
  example?: string | undefined;
  isReadOnly: boolean;
  onChange(text: string): void;
  /** Ctrl or Cmd with Enter, or S. */
  onSave(): void;
}

/** Until the next change, which is judged by itself. */
export const showRefusal = (editor: EditorView, { root, message }: Refusal): void => {
  const place = findProblem(editor.state, root, message);
  if (!place) return;
  editor.dispatch(setDiagnostics(editor.state, [{ ...place, severity: 'error', message }]), {
    effects: EditorView.scrollIntoView(place.from, { y: 'center' }),
  });
};

/**
 * An editor for JSON in a shadow root: there its styles are sheets made by script, where the page's policy would let
 * no style element through.
 */
export const openEditor = (
  host: HTMLElement,
  { text, label, example, isReadOnly, onChange, onSave }: Editing,
): EditorView => {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const save = () => {
    onSave();
    return true;
  };
  return new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        json(),
        linter((view) => (view.state.doc.length === 0 ? [] : findMistakes(view))),
        example === undefined ? [] : placeholder(example),
        syntaxHighlighting(highlight),
        theme,
        // Tab leaves the editor: nobody is caught in it.
        keymap.of([
          { key: 'Mod-Enter', run: save },
          { key: 'Mod-s', run: save, preventDefault: true },
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
};
