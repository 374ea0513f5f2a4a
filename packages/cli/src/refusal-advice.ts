/** What to look at when a receiver has refused a request for good, where the status tells. */
export function refusalAdvice(
  status: number | undefined,
  { origin, pathname }: URL,
  token: string | undefined,
): string | undefined {
  if (status === 404 || status === 405) {
    return `nothing takes ${origin}${pathname}: is --endpoint the base URL of an OTLP/HTTP endpoint?`
  }
  if (status === 401 && !token) {
    return 'no token was given: the receiver wants one, by --token or PENSTOCK_EXPORT_TOKEN'
  }
  return undefined
}
