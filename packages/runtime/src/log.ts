import { type Logger, pino } from 'pino'

/** The logger. Usage: `log.warn({ event: 'token.expiring', token_id: id }, 'one English sentence')`, fields in snake_case. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Fields that are redacted, in case one is logged by mistake. */
const secretFields = ['authorization', 'token', 'secret', 'pepper', 'password', 'passphrase', 'api_key', 'cookie']

/** Returns a logger that writes one JSON object per line. */
export function jsonLog(destination: { write(line: string): void }, nowMs: () => number): Log {
  return pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date(nowMs()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    },
    destination,
  )
}

/** A logger that writes nothing. */
export const silentLog: Log = pino({ level: 'silent' })
