import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { queryClient, usePages } from '../../api/queries.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { confirm } from '../../parts/dialogs/confirm.tsx';
import { Empty } from '../../parts/lists/empty.tsx';
import { Listed } from '../../parts/lists/listed.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Takes } from '../../parts/takes.tsx';
import { notify, notifyProblem } from '../../parts/toasts.tsx';
import { countWords } from '../../parts/words/numbers.ts';
import type { StoredFile } from './file-address.ts';
import { FileTable } from './file-table.tsx';
import { Preview } from './preview.tsx';
import { toFilesSearch } from './search.ts';
import { Totals } from './totals.tsx';
import { Uploads } from './uploads.tsx';
import './files.css';

const from = '/signed-in/projects/$projectId/files';

const firstFile = (projectId: string) =>
  `curl -s ${location.origin}/api/runtime/${projectId}/storage/upload \\
  -H "Authorization: Bearer $TOKEN" -F file=@photo.jpg`;

const remove = async (projectId: string, files: readonly StoredFile[]) => {
  const [file] = files;
  const isSure = await confirm({
    title: files.length === 1 ? `Delete ${file?.name}?` : `Delete ${files.length} files?`,
    says: 'Their addresses stop working at once, also where records and mails name them. It can not be undone: download what you may want again.',
    action: `Delete ${countWords(files.length, 'file')}`,
    isDangerous: true,
  });
  if (!isSure) return false;
  try {
    for (const { id } of files) await call('deleteFile', { project: projectId, params: { id } });
    notify(`${countWords(files.length, 'file')} deleted`);
  } catch (error) {
    notifyProblem(error as Error);
  }
  for (const read of ['listProjectFiles', 'listFileTypes'])
    void queryClient.invalidateQueries({ queryKey: [read] });
  return true;
};

/** What the project keeps as files. */
export const FilesScreen = () => {
  const { projectId } = useParams({ from });
  const search = toFilesSearch({ ...useSearch({ from }) });
  const navigate = useNavigate({ from: '/projects/$projectId/files' });
  const input = { params: { projectId }, query: { ...search, limit: 100 } };
  const pages = usePages('listProjectFiles', input);
  const [opened, setOpened] = useState<StoredFile>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (id: string, isChosen: boolean) =>
    setChosen((before) => {
      const next = new Set(before);
      if (isChosen) next.add(id);
      else next.delete(id);
      return next;
    });
  const erase = async (files: readonly StoredFile[]) => {
    if (!(await remove(projectId, files))) return;
    setChosen(new Set());
    setOpened(undefined);
  };
  const chosenFiles = (pages.items ?? []).filter(({ id }) => chosen.has(id));
  const isFiltered = Boolean(search.owner || search.group);
  return (
    <Screen
      title="Files"
      says="What your app and its users have uploaded."
      actions={<ApiCall name="listProjectFiles" input={input} />}
    >
      <Totals projectId={projectId} of={pages.first} />
      <Uploads projectId={projectId}>
        {(isFiltered || chosenFiles.length > 0) && (
          <div className="row">
            {isFiltered && (
              <button type="button" className="small" onClick={() => void navigate({ search: {} })}>
                Files of one {search.owner ? 'user' : 'group'} ×
              </button>
            )}
            {chosenFiles.length > 0 && (
              <>
                <Takes name="deleteFile">
                  <button type="button" className="small" onClick={() => void erase(chosenFiles)}>
                    Delete {countWords(chosenFiles.length, 'file')}…
                  </button>
                </Takes>
                <button type="button" className="small quiet" onClick={() => setChosen(new Set())}>
                  Choose none
                </button>
              </>
            )}
          </div>
        )}
        <Listed
          pages={pages}
          empty={
            isFiltered ? (
              <Empty title="No files">They have uploaded nothing that is still there.</Empty>
            ) : (
              <Empty title="No files yet" snippet={firstFile(projectId)}>
                Drop some here, or upload the first from your app or by this call.
              </Empty>
            )
          }
        >
          {(files) => (
            <FileTable
              files={files}
              projectId={projectId}
              chosen={chosen}
              onChoose={choose}
              onOpen={setOpened}
            />
          )}
        </Listed>
      </Uploads>
      {opened && (
        <Preview
          key={opened.id}
          file={opened}
          projectId={projectId}
          onClose={() => setOpened(undefined)}
          onDelete={() => void erase([opened])}
        />
      )}
    </Screen>
  );
};
