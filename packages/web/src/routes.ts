import type { ComponentType } from 'preact'
import { matchPath } from './app/match-path.ts'
import type { PageProps } from './app/page-props.ts'

/** A page of the console. Its code is loaded when it is first shown. */
export interface Route {
  readonly path: string
  readonly title: string
  /** The page reads the telemetry store and is replaced by an explanation if none is connected. */
  readonly needsStore: boolean
  readonly page: () => Promise<{ readonly default: ComponentType<PageProps> }>
}

/** All pages, by path. */
export const routes: readonly Route[] = [
  {
    path: '/pipelines',
    title: 'Pipelines',
    needsStore: true,
    page: () => import('./pages/pipelines/page.tsx'),
  },
  {
    path: '/insights',
    title: 'Insights',
    needsStore: true,
    page: () => import('./pages/insights/page.tsx'),
  },
  {
    path: '/traces',
    title: 'Traces',
    needsStore: true,
    page: () => import('./pages/traces/page.tsx'),
  },
  {
    path: '/traces/:traceId',
    title: 'Trace',
    needsStore: true,
    page: () => import('./pages/trace/page.tsx'),
  },
  {
    path: '/compare',
    title: 'Compare',
    needsStore: true,
    page: () => import('./pages/compare/page.tsx'),
  },
  {
    path: '/logs',
    title: 'Logs',
    needsStore: true,
    page: () => import('./pages/logs/page.tsx'),
  },
  {
    path: '/explore/metrics',
    title: 'Metrics',
    needsStore: true,
    page: () => import('./pages/metrics/page.tsx'),
  },
  {
    path: '/ingest',
    title: 'Ingest',
    needsStore: false,
    page: () => import('./pages/ingest/page.tsx'),
  },
  {
    path: '/api-keys',
    title: 'API keys',
    needsStore: false,
    page: () => import('./pages/api-keys/page.tsx'),
  },
]

/** Returns the route of a path with its parameters, or undefined if there is no page. */
export function routeOf(
  path: string,
): { readonly route: Route; readonly params: Readonly<Record<string, string>> } | undefined {
  for (const route of routes) {
    const params = matchPath(route.path, path)
    if (params !== undefined) return { route, params }
  }
  return undefined
}
