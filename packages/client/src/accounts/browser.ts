/** What of a browser this needs, where there is one. */
interface BrowserGlobals {
  location?: { href: string; assign(url: string): void };
  history?: { replaceState(state: unknown, title: string, url: string): void; state: unknown };
  sessionStorage?: KeyValueStore;
  top?: unknown;
  self?: unknown;
  open?(url: string, name: string, features: string): Popup | null;
  addEventListener?(type: 'message', listener: (event: Message) => void): void;
  removeEventListener?(type: 'message', listener: (event: Message) => void): void;
  navigator?: {
    credentials?: {
      create(options: object): Promise<Credential | null>;
      get(options: object): Promise<Credential | null>;
    };
  };
  PublicKeyCredential?: {
    parseCreationOptionsFromJSON?(options: object): object;
    parseRequestOptionsFromJSON?(options: object): object;
  };
}

interface KeyValueStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

interface Message {
  origin: string;
  source: unknown;
  data: unknown;
}

export interface Popup {
  closed: boolean;
  close(): void;
  location: { href: string };
}

interface Credential {
  toJSON(): unknown;
}

export const browser = globalThis as unknown as BrowserGlobals;
