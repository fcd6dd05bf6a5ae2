export const roleNames = 'group-role-names';

/** Those that mean something to the platform; others are up to the app. */
export const RoleNames = () => (
  <datalist id={roleNames}>
    <option value="owner" />
    <option value="admin" />
    <option value="member" />
  </datalist>
);
