import type { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { type Editing, openEditor, type Refusal, showRefusal } from './code-mirror.ts';

/** JSON to edit. It keeps its text itself: another `key` begins anew. Load it by `lazy`: it is large. */
const JsonEditor = ({ refusal, ...editing }: Editing & { refusal?: Refusal | undefined }) => {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const latest = useRef(editing);
  latest.current = editing;
  const { text, label, example, isReadOnly } = editing;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what it begins with
  useEffect(() => {
    if (!host.current) return undefined;
    const opened = openEditor(host.current, {
      text,
      label,
      example,
      isReadOnly,
      onChange: (next) => latest.current.onChange(next),
      onSave: () => latest.current.onSave(),
    });
    editor.current = opened;
    return () => opened.destroy();
  }, [label, isReadOnly]);
  const { root, message } = refusal ?? {};
  useEffect(() => {
    if (editor.current && root !== undefined && message !== undefined)
      showRefusal(editor.current, { root, message });
  }, [root, message]);
  return <div ref={host} className="json-editor" />;
};

export default JsonEditor;
