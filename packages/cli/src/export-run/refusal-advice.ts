/** Returns advice for a request that a receiver has finally refused; `undefined` if the status does not indicate the cause. */
export function refusalAdvice(
  status: number | undefined,
  { origin, pathname }: URL,
  hasCredential: boolean,
): string | undefined {
  if (status === 404 || status === 405) {
    return `${origin}${pathname} does not accept requests; set --endpoint to the base URL of an OTLP/HTTP endpoint`
  }
  if (status === 401 && !hasCredential) {
    return 'no token was given; pass the token of the receiver with --token or PENSTOCK_EXPORT_TOKEN'
  }
  return undefined
}
