import type { Destination } from './exporter.ts'
import { OtlpEndpoint, type OtlpEndpointOptions } from './otlp-endpoint.ts'

/** One endpoint per URL and token, so that exports to it can share requests. The ones used longest ago are forgotten. */
export class EndpointCache {
  readonly #endpoints = new Map<string, OtlpEndpoint>()
  readonly #options: Omit<OtlpEndpointOptions, 'url' | 'token'>
  readonly #maxEndpoints: number

  constructor(options: Omit<OtlpEndpointOptions, 'url' | 'token'>, maxEndpoints: number) {
    this.#options = options
    this.#maxEndpoints = maxEndpoints
  }

  /** @throws EndpointError */
  of({ url, token }: Pick<Destination, 'url' | 'token'>): OtlpEndpoint {
    const key = JSON.stringify([url, token])
    const endpoint = this.#endpoints.get(key) ?? new OtlpEndpoint({ ...this.#options, url, token })
    this.#endpoints.delete(key)
    this.#endpoints.set(key, endpoint)
    for (const oldest of this.#endpoints.keys()) {
      if (this.#endpoints.size <= this.#maxEndpoints) break
      this.#endpoints.delete(oldest)
    }
    return endpoint
  }
}
