/** A page of the console: all that is known of it without its code. */
export interface ConsolePage {
  /** `:name` matches one segment. */
  readonly path: string
  readonly title: string
  /** The folder of `src/pages` with its code. */
  readonly folder: string
  /** Whether the page reads the telemetry store. Without one, an explanation replaces it. */
  readonly needsStore: boolean
  /** Its place in the navigation; pages without one are reached by links of other pages. */
  readonly navigation?: {
    readonly group: 'observe' | 'administration'
    /** The key that goes to the page after `g`. */
    readonly key: string
    readonly icon: 'pipelines' | 'insights' | 'traces' | 'logs' | 'metrics' | 'ingest' | 'apiKeys'
  }
  /** The path of the page that the navigation marks in its place. */
  readonly section?: string
}

/** Every page, in the order of the navigation. The router, the navigation, its keys and the service that answers the paths use this table. */
export const consolePages: readonly ConsolePage[]
