import type { Destination } from './destination.ts'
import { OtlpEndpoint, type OtlpEndpointOptions } from './otlp-endpoint.ts'

/** Keeps one endpoint per URL and credentials, so that exports to it can share requests. Evicts the least recently used ones. */
export class EndpointCache {
  readonly #endpoints = new Map<string, OtlpEndpoint>()
  readonly #options: Omit<OtlpEndpointOptions, 'url' | 'token' | 'headers'>
  readonly #maxEndpoints: number

  constructor(options: Omit<OtlpEndpointOptions, 'url' | 'token' | 'headers'>, maxEndpoints: number) {
    this.#options = options
    this.#maxEndpoints = maxEndpoints
  }

  /**
   * Returns the endpoint for a URL and credentials.
   * @throws EndpointError
   */
  get({ url, token, headers }: Pick<Destination, 'url' | 'token' | 'headers'>): OtlpEndpoint {
    const key = JSON.stringify([url, token, headers])
    const endpoint = this.#endpoints.get(key) ?? new OtlpEndpoint({ ...this.#options, url, token, headers })
    this.#endpoints.delete(key)
    this.#endpoints.set(key, endpoint)
    for (const oldest of this.#endpoints.keys()) {
      if (this.#endpoints.size <= this.#maxEndpoints) break
      this.#endpoints.delete(oldest)
    }
    return endpoint
  }
}
