import type { Client } from './sdk.js';
type AuthClient = Pick<Client, 'auth'>;
/** Where pages are made without a browser, there is nothing to extend. */
declare const Base: {
    new (): HTMLElement;
    prototype: HTMLElement;
};
export declare class BacklotSignIn extends Base {
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
export { Words };
