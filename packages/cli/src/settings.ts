import { type Signal, signalNames } from '@penstock/otlp'
import { type Environment, UsageError } from './environment.ts'

type Variables = Environment['env']

/** The service's own name inside identifiers; everything that is spelled with it follows. */
export function serviceNameOf(env: Variables): string {
  const name = env.PENSTOCK_SERVICE_NAME || 'svc'
  if (/^[a-z][a-z0-9_]*$/.test(name)) return name
  throw new UsageError('PENSTOCK_SERVICE_NAME must be lower-case letters, digits and _, and start with a letter')
}

/** The variable in which CI jobs find the export token. */
function tokenVariable(serviceName: string): string {
  return `${serviceName.toUpperCase()}_OBSERVABILITY_TOKEN`
}

/** '' or absent: no token. */
export function exportToken(env: Variables): string | undefined {
  return env.PENSTOCK_EXPORT_TOKEN || env[tokenVariable(serviceNameOf(env))]
}

interface SignalChoice {
  /** The variable it stands in. */
  readonly variable: string
  /** In our order; none: the export is off. */
  readonly signals: readonly Signal[]
  /** What is no signal. */
  readonly unknownWords: readonly string[]
}

/**
 * The signals that CI jobs are told to export; undefined when they are told nothing.
 *
 * @see spec/interface-1.md 4.3, spec/pipeline-telemetry.md 6.3
 */
export function signalChoice(env: Variables): SignalChoice | undefined {
  const variable = `${serviceNameOf(env).toUpperCase()}_OBSERVABILITY_EXPORT`
  const value = env[variable]
  if (value === undefined) return undefined
  const words = new Set(value.split(',').map((word) => word.trim().toLowerCase()))
  words.delete('')
  const signals = signalNames.filter((signal) => words.delete(signal))
  return { variable, signals, unknownWords: [...words] }
}
