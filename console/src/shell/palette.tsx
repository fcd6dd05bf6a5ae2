import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useCall } from '../api/queries.ts';
import { signOut } from '../api/session.ts';
import { type Command, useOfferedCommands } from '../parts/commands.ts';
import { closePalette } from './palette-state.ts';

const maxProjects = 100;

const useCommandsOfShell = (): Command[] => {
  const navigate = useNavigate();
  const projects = useCall('listProjects', { query: { limit: maxProjects } });
  return useMemo(
    () => [
      ...(projects.data?.items ?? []).map(({ id, name }) => ({
        group: 'Projects',
        label: `${name} (${id})`,
        run: () => void navigate({ to: `/projects/${id}/data` as string }),
      })),
      { group: 'Elsewhere', label: 'All projects', run: () => void navigate({ to: '/' }) },
      { group: 'Elsewhere', label: 'Documentation', run: () => void open('/docs') },
      { group: 'Elsewhere', label: 'Sign out', run: () => void signOut() },
    ],
    [navigate, projects.data],
  );
};

interface CommandGroup {
  value: string;
  items: Command[];
}

/** Everything that can be done from here, found by typing. */
const Palette = () => {
  const offered = useOfferedCommands();
  const own = useCommandsOfShell();
  const groups = useMemo(() => {
    const byName = new Map<string, Command[]>();
    for (const command of [...offered, ...own])
      byName.set(command.group, [...(byName.get(command.group) ?? []), command]);
    return [...byName].map(([value, items]): CommandGroup => ({ value, items }));
  }, [offered, own]);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && closePalette()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog over palette" aria-label="Find or do">
          <Autocomplete.Root
            open
            inline
            items={groups}
            autoHighlight="always"
            keepHighlight
            itemToStringValue={(command: Command) => command.label}
          >
            <Autocomplete.Input aria-label="Find or do" placeholder="Find or do…" />
            <Autocomplete.Empty className="nothing">
              Nothing is called like this.
            </Autocomplete.Empty>
            <Autocomplete.List>
              {(group: CommandGroup) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className="menu-label">
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Autocomplete.Item
                        key={`${command.group} ${command.label}`}
                        value={command}
                        className="menu-item"
                        onClick={() => {
                          closePalette();
                          command.run();
                        }}
                      >
                        {command.label}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};

export default Palette;
