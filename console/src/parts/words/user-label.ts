/** What a user is called where one line has to do: a guest has no address. */
export const userLabel = ({
  id,
  email,
  name,
}: {
  id: string;
  email: string | null;
  name: string | null;
}): string => email ?? name ?? `Guest ${id.slice(-6)}`;
