export interface SignInSearch {
  /** Where to go then: a path of the console. */
  to?: string;
  /** Why the printed link that signs in has signed nobody in. */
  link?: 'over' | 'password';
}
