import { signal } from '@preact/signals'
import { consolePages } from '../../console-pages.js'

/**
 * The path of the destination that a page belongs to, if its own path does not say so: a trace belongs to Pipelines or to
 * Traces. Null until the page knows.
 */
export const section = signal<string | null>(null)

/** Returns the path of the destination that the navigation marks for a page. */
export function findSection(path: string, ofTrace: string | null): string | null {
  if (path.startsWith('/traces/')) return ofTrace
  return consolePages.find((page) => page.path === path)?.section ?? path
}
