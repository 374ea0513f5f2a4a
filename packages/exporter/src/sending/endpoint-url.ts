import { perSignal, type Signal, signalNames, signals } from '@penstock/otlp'

/** The error for an invalid endpoint setting. The message is for the person who typed it and contains no secret. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError'
}

/**
 * Returns the URL of each signal for an OTLP/HTTP base URL: `https://host/prefix` → `https://host/prefix/v1/traces`.
 *
 * @throws EndpointError
 * @see OTLP specification, "OTLP/HTTP Request"
 */
export function signalUrls(baseUrl: string): Readonly<Record<Signal, URL>> {
  const base = requireBaseUrl(baseUrl)
  return perSignal((signal) => signalUrl(base, signal))
}

/** Sets the path instead of resolving it: `//elsewhere.example/v1/traces` would resolve to another host. */
function signalUrl(base: URL, signal: Signal): URL {
  const url = new URL(base)
  url.pathname = withoutTrailingSlashes(base.pathname) + signals[signal].httpPath
  return url
}

function requireBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new EndpointError('the endpoint must be a URL that starts with http:// or https://')
  }
  if (url.username !== '' || url.password !== '') {
    throw new EndpointError('the endpoint must not contain a user name or password; set a token instead')
  }
  if (url.search !== '' || url.hash !== '') {
    throw new EndpointError(`the endpoint ${url.origin}${url.pathname} must not be followed by ? or #`)
  }
  const path = withoutTrailingSlashes(url.pathname)
  const own = signalNames.find((signal) => path.endsWith(signals[signal].httpPath))
  if (own) {
    const { httpPath } = signals[own]
    const base = url.origin + path.slice(0, -httpPath.length)
    throw new EndpointError(`the endpoint is the base URL, to which ${httpPath} is appended; use ${base}`)
  }
  return url
}

/** Uses a loop, because the pattern `/\/+$/` takes quadratic time on a path full of slashes. */
function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}
