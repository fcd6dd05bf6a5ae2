import type { Channel, ChannelMember, ChannelMessage, Client, LiveOptions, LiveState, OnItems, Stored, User } from './sdk.js';
/** Live lists, the signed-in user and a form to sign in, for React 18 and later. */
import { type ReactElement } from 'react';
interface SignInProps {
    client: Client<any>;
    onSignedIn?: (user: User) => void;
    /** `false`: only those who have an account. */
    canSignUp?: boolean;
    /** Of the system, light or dark, unless stated. `plain` has the page's own letters and colours. */
    theme?: 'light' | 'dark' | 'plain' | 'contrast';
    className?: string;
    /** Other words than the usual ones. */
    words?: Partial<Words>;
}
/** The form `<backlot-sign-in>`, which is loaded when it is first shown. */
declare const SignIn: ({ client, onSignedIn, canSignUp, theme, className, words, }: SignInProps) => ReactElement;
type AuthClient = Pick<Client, 'auth'>;
/** Where pages are made without a browser, there is nothing to extend. */
declare const Base: {
    new (): HTMLElement;
    prototype: HTMLElement;
};
declare class BacklotSignIn extends Base {
    #private;
    /** Takes the place of `project` and `base`: a client that the page has already. */
    client?: AuthClient;
    /** In place of the usual ones, such as those of another language. */
    words?: Partial<Words>;
    connectedCallback(): void;
}
/** What the form says; `words` of the element replaces any of it. */
declare const usualWords: {
    email: string;
    password: string;
    name: string;
    passwordRule: string;
    signIn: string;
    signUp: string;
    toSignUp: string;
    toSignIn: string;
    forgot: string;
    forgotTitle: string;
    forgotSays: string;
    forgotSend: string;
    forgotten: string;
    signInWith: string;
    passkey: string;
    code: string;
    codeTitle: string;
    codeSays: string;
    codeSend: string;
    codeSent: string;
    codeAgain: string;
    factorTitle: string;
    factorSays: string;
    factorCode: string;
    factorSend: string;
    remember: string;
    guest: string;
    asGuest: string;
    mergeGuest: string;
    back: string;
    or: string;
    wait: string;
    signedIn: string;
    signedInAs: string;
    unconfirmed: string;
    sendLinkAgain: string;
    linkSent: string;
    signOut: string;
    unreachable: string;
    later: string;
    busy: string;
    missing: string;
    noEmail: string;
    short: string;
    weak: string;
    misplaced: string;
};
type Words = typeof usualWords;
/** @param values by the name that stands in braces */
declare const fill: (text: string, values: Readonly<Record<string, string>>) => string;
/** What `createClient` makes. */
interface ChannelSource {
    channel(name: string): Channel;
}
/**
 * Hears what is said in a channel, and says something there.
 * @param name null listens to nothing
 * @example
 * const { send } = useChannel(client, 'room:1', ({ data }) => show(data));
 */
declare const useChannel: <T>(client: ChannelSource, name: string | null, onMessage: (message: ChannelMessage<T>) => void) => {
    send: (data: T) => Promise<void>;
    error: Error | undefined;
};
/**
 * Who is in a channel; undefined until it is known. What is said of the caller may change with each rendering.
 * @param name null looks at nothing
 * @param data null: the caller is not shown
 */
declare const usePresence: <P extends object>(client: ChannelSource, name: string | null, data?: P | null) => {
    members: ChannelMember<P>[] | undefined;
    error: Error | undefined;
};
/** What `client.db(…)` makes. */
interface LiveCollection<T> {
    live(options: LiveOptions<T>, onItems: OnItems<T>): () => void;
}
interface ShownList<T> extends LiveState {
    /** Undefined until they are there. */
    items: Stored<T>[] | undefined;
    /** What keeps the list from being true; undefined again with the next items. */
    error: Error | undefined;
}
/**
 * A list that stays true. What the app writes by `client.db(…)` shows at once, and goes away again where the server
 * refuses it.
 * @param options as of `live`; null reads nothing
 * @example
 * const { items, error } = useList(client.db('todos'), { where: { done: false } });
 */
declare const useList: <T>(collection: LiveCollection<T>, options?: Omit<LiveOptions<T>, 'onError'> | null) => ShownList<T>;
/**
 * One record that stays true: undefined until it is known, null where there is none.
 * @param id null reads nothing
 */
declare const useRecord: <T>(collection: LiveCollection<T>, id: string | null) => {
    record: Stored<T> | null | undefined;
    error: Error | undefined;
    isPending: boolean;
};
/** What `client.auth` has. */
interface UserSource {
    onChange(listener: (user: User | null) => void): () => void;
}
/** Who is signed in: undefined until that is known, null for nobody. */
declare const useUser: ({ auth }: {
    auth: UserSource;
}) => User | null | undefined;
export { LiveCollection, ShownList, SignIn, SignInProps, UserSource, useChannel, useList, usePresence, useRecord, useUser };
