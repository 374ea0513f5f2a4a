import type { ListenAddress } from '../contract/gateway-config.ts'

/** The facts about the address at which senders reach the OTLP ports. */
export interface OtlpAddress {
  /** The configured address, such as that of a load balancer. */
  readonly externalUrl: string | undefined
  /** The address of a port that accepts OTLP/HTTP. */
  readonly bound: ListenAddress
  readonly isTls: boolean
}

/** These hosts represent every interface of the machine, so senders cannot use them. */
const anyInterface: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * Returns the base URL of OTLP/HTTP, without a slash at the end. If the port accepts connections on every interface, it has the host under which
 * the caller reached the management API: that is the same machine.
 *
 * @param requestHost the `Host` header of the caller
 */
export function otlpUrl({ externalUrl, bound, isTls }: OtlpAddress, requestHost: string | undefined): string {
  if (externalUrl !== undefined) return externalUrl.replace(/\/+$/, '')
  const scheme = isTls ? 'https' : 'http'
  const host = anyInterface.has(bound.host) ? (hostnameOf(requestHost) ?? 'localhost') : bracketed(bound.host)
  return `${scheme}://${host}:${bound.port}`
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Returns the name in a `Host` header, with brackets around an IPv6 address; `undefined` if the header has another form. */
function hostnameOf(header: string | undefined): string | undefined {
  const hasHostForm = header !== undefined && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(header)
  if (!hasHostForm || !URL.canParse(`http://${header}`)) return undefined
  return new URL(`http://${header}`).hostname
}
