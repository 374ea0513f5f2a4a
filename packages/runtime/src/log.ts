import { type Logger, pino } from 'pino'

/** `log.warn({ event: 'token.expiring', token_id: id }, 'one English sentence')`; fields in snake_case. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Fields that would hold a secret if someone logged them by mistake. */
const secretFields = ['authorization', 'token', 'secret', 'pepper', 'password', 'passphrase', 'api_key', 'cookie']

/** One JSON object a line. */
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

/** For whoever does not want to hear anything. */
export const silentLog: Log = pino({ level: 'silent' })
