import { type Signal, signals } from '@penstock/otlp'

/** What the gate lets through; profiles it forwards without knowing their model. */
export type IngestSignal = Signal | 'profiles'

export interface IngestSignalRow {
  readonly httpPath: string
  readonly grpcMethod: string
}

export const ingestSignals: Readonly<Record<IngestSignal, IngestSignalRow>> = {
  ...signals,
  profiles: {
    httpPath: '/v1development/profiles',
    grpcMethod: '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export',
  },
}

export const ingestSignalNames = Object.keys(ingestSignals) as IngestSignal[]
