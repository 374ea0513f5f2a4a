import { type Signal, signals } from '@penstock/otlp'

/** The signals that the gateway accepts. It forwards profiles without decoding them. */
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
