import type { ComponentType } from 'preact'
import { type ConsolePage, consolePages } from '../console-pages.js'
import { matchPath } from './match-path.ts'
import type { PageProps } from './page-props.ts'

interface PageModule {
  readonly default: ComponentType<PageProps>
}

/** The code of the pages by file. It is loaded when a page is first shown. */
const modules = import.meta.glob<PageModule>('./pages/*/page.tsx')

/** A page of the console with its code. */
export interface Route extends ConsolePage {
  readonly page: () => Promise<PageModule>
}

/** All pages, by path. */
export const routes: readonly Route[] = consolePages.map((page) => ({
  ...page,
  page: modules[`./pages/${page.folder}/page.tsx`]!,
}))

/** Returns the route of a path with its parameters, or undefined if there is no page. */
export function findRoute(
  path: string,
): { readonly route: Route; readonly params: Readonly<Record<string, string>> } | undefined {
  for (const route of routes) {
    const params = matchPath(route.path, path)
    if (params !== undefined) return { route, params }
  }
  return undefined
}
