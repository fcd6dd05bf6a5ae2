interface SearchBoxProps {
  /** For screen readers, and in the empty field: "Search users". */
  label: string;
  value: string;
  onChange(value: string): void;
}

/** The key `/` leads into it. */
export const SearchBox = ({ label, value, onChange }: SearchBoxProps) => (
  <input
    type="search"
    className="search-box"
    data-search
    aria-label={label}
    aria-keyshortcuts="/"
    placeholder={`${label}  /`}
    value={value}
    onChange={({ target }) => onChange(target.value)}
  />
);
