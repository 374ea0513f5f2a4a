import { CopyButton } from '../../components/copy-button.tsx'
import { nowMs } from '../../components/now.ts'
import { StatusIcon } from '../../components/status.tsx'
import type { Meaning } from '../../components/status-words.ts'
import { localText, toMilliseconds, utcText } from '../../components/time.ts'
import { setQuery } from '../../location.ts'
import { addressAround, type LogRow, type Severity } from './log-records.ts'

const looks: Readonly<Record<Severity, { readonly label: string; readonly meaning: Meaning | 'quiet' }>> = {
  trace: { label: 'Trace', meaning: 'quiet' },
  debug: { label: 'Debug', meaning: 'quiet' },
  info: { label: 'Info', meaning: 'manual' },
  warn: { label: 'Warn', meaning: 'warning' },
  error: { label: 'Error', meaning: 'failed' },
  fatal: { label: 'Fatal', meaning: 'failed' },
}

const ROW_LENGTH = 500
const OPEN_LENGTH = 20_000

interface RecordRowProps {
  readonly row: LogRow
  readonly isOpen: boolean
}

/** A log record: a line, and below it all that is known about it if it is open. */
export function RecordRow({ row, isOpen }: RecordRowProps) {
  const { key, timeNs, service, severity, body, traceId } = row
  const ms = toMilliseconds(timeNs)
  return (
    <>
      <div class={isOpen ? 'rec open' : 'rec'}>
        <time class="dim" dateTime={new Date(ms).toISOString()} title={utcText(ms)}>
          <span class="opt">{localText(ms, 'day', nowMs.value)} </span>
          {localText(ms, 'clock', nowMs.value).slice(0, 8)}
          <span class="ms">{localText(ms, 'clock', nowMs.value).slice(8)}</span>
        </time>
        <SeverityText severity={severity} />
        <span class="src dim cut" title={service}>
          {service}
        </span>
        <button
          class="body cut"
          type="button"
          title={body.slice(0, ROW_LENGTH)}
          aria-expanded={isOpen}
          onClick={() => setQuery({ open: isOpen ? null : key }, { replace: true })}
        >
          <bdi>{body === '' ? '(no body)' : body.slice(0, ROW_LENGTH)}</bdi>
        </button>
        {traceId === undefined ? <span class="none-trace" /> : <TraceLink row={row} />}
      </div>
      {isOpen ? <Details row={row} /> : null}
    </>
  )
}

function TraceLink({ row }: { readonly row: LogRow }) {
  return (
    <a href={traceAddress(row)}>
      {row.traceId?.slice(0, 8)}
      <span class="vh">, trace</span>
    </a>
  )
}

function traceAddress({ traceId = '', spanId }: LogRow): string {
  const path = `/traces/${encodeURIComponent(traceId)}`
  return spanId === undefined ? path : `${path}?span=${encodeURIComponent(spanId)}`
}

function SeverityText({ severity }: { readonly severity: Severity | undefined }) {
  if (severity === undefined) return <span class="sev is-skipped">–</span>
  const { label, meaning } = looks[severity]
  return (
    <span class={`sev is-${meaning === 'quiet' ? 'skipped' : meaning}`}>
      {meaning === 'quiet' || meaning === 'manual' ? (
        <QuietIcon isInfo={meaning === 'manual'} />
      ) : (
        <StatusIcon meaning={meaning} />
      )}
      {label}
    </span>
  )
}

function QuietIcon({ isInfo }: { readonly isInfo: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r={isInfo ? 6.25 : 2.6} fill="none" stroke="currentColor" stroke-width="1.4" />
      {isInfo ? <path d="M8 7.3v4M8 4.2v1.4" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" /> : null}
    </svg>
  )
}

function Details({ row }: { readonly row: LogRow }) {
  const { body, facts, traceId } = row
  return (
    <div class="record">
      {body.length > 80 || body.includes('\n') ? (
        <pre>
          <bdi>{body.slice(0, OPEN_LENGTH)}</bdi>
          {body.length > OPEN_LENGTH ? <span class="dim"> … {body.length - OPEN_LENGTH} more characters</span> : null}
        </pre>
      ) : null}
      <dl class="more">
        {facts.map(([name, value], index) => (
          <div key={`${index}-${name}`}>
            <dt>
              <bdi>{name.slice(0, ROW_LENGTH)}</bdi>
            </dt>
            <dd>
              <bdi>{value.length > ROW_LENGTH ? `${value.slice(0, ROW_LENGTH)}…` : value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <CopyButton class="btn small" text={body} label="Copy the body" />
        <a class="btn small" href={addressAround(row)}>
          Records around it
        </a>
        {traceId === undefined ? null : (
          <a class="btn small" href={traceAddress(row)}>
            Open the trace
          </a>
        )}
      </div>
    </div>
  )
}
