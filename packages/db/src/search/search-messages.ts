/** The data with which a thread of searches starts. */
export interface SearchThreadData {
  /** The SQLite file. */
  readonly file: string
  /** How long a statement may run. */
  readonly budgetMs: number
}

/** A message to the thread of searches. `next` asks for further rows, and `stop` says that none are wanted. */
export type ToSearchThread =
  | { readonly kind: 'run'; readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly kind: 'next' | 'stop' | 'close' }

/** An answer of the thread of searches to `run` or `next`. Each has rows with about a million characters. */
export type FromSearchThread =
  | { readonly kind: 'rows'; readonly rows: readonly object[]; readonly isLast: boolean }
  | { readonly kind: 'failure'; readonly reason: 'budget' }
  | { readonly kind: 'failure'; readonly reason: 'database' | 'other'; readonly message: string; readonly code: string }
