import { type Environment, UsageError } from './environment.ts'

type Variables = Environment['env']

/** The service's own name inside identifiers; everything that is spelled with it follows. */
export function serviceNameOf(env: Variables): string {
  const name = env.PENSTOCK_SERVICE_NAME || 'svc'
  if (/^[a-z][a-z0-9_]*$/.test(name)) return name
  throw new UsageError('PENSTOCK_SERVICE_NAME must be lower-case letters, digits and _, and start with a letter')
}

/** The variable in which CI jobs find the export token. */
export function tokenVariable(serviceName: string): string {
  return `${serviceName.toUpperCase()}_OBSERVABILITY_TOKEN`
}

/** '' or absent: no token. */
export function exportToken(env: Variables): string | undefined {
  return env.PENSTOCK_EXPORT_TOKEN || env[tokenVariable(serviceNameOf(env))]
}
