import { type Signal, signalNames } from '@penstock/otlp'
import { type Environment, UsageError } from '../process/environment.ts'

type Variables = Environment['env']

/** Returns the name of the service in identifiers. Variables, attribute keys and metrics are derived from it. */
export function serviceNameOf(env: Variables): string {
  const name = env.PENSTOCK_SERVICE_NAME || 'svc'
  if (/^[a-z][a-z0-9_]*$/.test(name)) return name
  throw new UsageError('PENSTOCK_SERVICE_NAME must be lower-case letters, digits and _, and start with a letter')
}

/** Returns the name of the variable that contains the export token in CI jobs. */
function tokenVariable(serviceName: string): string {
  return `${serviceName.toUpperCase()}_OBSERVABILITY_TOKEN`
}

/** Returns the export token; `undefined` if the variable is empty or not set. */
export function exportToken(env: Variables): string | undefined {
  return env.PENSTOCK_EXPORT_TOKEN || env[tokenVariable(serviceNameOf(env))]
}

interface SignalChoice {
  /** The name of the variable. */
  readonly variable: string
  /** The signals in the order of `signalNames`. If there are none, the export is off. */
  readonly signals: readonly Signal[]
  /** The words in the variable that are not names of signals. */
  readonly unknownWords: readonly string[]
}

/**
 * Returns the signals that the variable for CI jobs selects; `undefined` if it is not set.
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
