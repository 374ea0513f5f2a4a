import type { RefusedClient } from './answers.ts'

/** Returns the number of clients: services count once, however many rows of the report they have, and a row without a service counts itself. */
export function countClients(rows: readonly RefusedClient[]): number {
  const { services, unnamed } = refusedNames(rows)
  return services.length + unnamed
}

export interface RefusedNames {
  /** Distinct names of services, those with the most requests first. */
  readonly services: readonly string[]
  /** The number of clients that state no service. */
  readonly unnamed: number
}

export function refusedNames(clients: readonly RefusedClient[]): RefusedNames {
  return {
    services: [...new Set(clients.flatMap(({ service_names }) => service_names))],
    unnamed: clients.filter(({ service_names }) => service_names.length === 0).length,
  }
}
