import { session } from '../../app/session.ts'
import { isBelow, safeUrl } from './trace-span.ts'

/**
 * Returns a URL of telemetry that a browser can open; `undefined` if it leads to no web page. The core of this service writes URLs of its
 * pipelines and jobs into telemetry as a forge does, but has no pages at them.
 */
export function pageUrl(text: string | undefined): string | undefined {
  const url = text === undefined ? undefined : safeUrl(text)
  const core = session.value?.core.url ?? null
  return url === undefined || (core !== null && isBelow(url, core)) ? undefined : url
}
