/** The answer of a receiver, or why there is none. */
export type HookCallResult =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | { readonly kind: 'failed'; readonly reason: string }
