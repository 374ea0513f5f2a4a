import { toValueText, type WireValue } from '../../api/otlp-json.ts'
import { Blank, Failure, useDelayed } from '../../components/page-states.tsx'
import type { Resource } from '../../components/resource.ts'
import { Status } from '../../components/status.tsx'
import type { Meaning } from '../../components/status-words.ts'
import { Time } from '../../components/text.tsx'
import { LongText } from './long-text.tsx'

/** A log record, as the Observe API answers. */
export interface StoredRecord {
  readonly time_unix_nano: string
  readonly record: {
    readonly spanId?: string
    readonly severityNumber?: number
    readonly severityText?: string
    readonly body?: WireValue
  }
}

/** The log records of a span, the earliest first. */
export function LogsTab({ logs }: { readonly logs: Resource<readonly StoredRecord[]> }) {
  const isLong = useDelayed(logs.isLoading)
  if (logs.isLoading)
    return <div aria-busy="true">{isLong ? <p class="none-left soft">Loading log records…</p> : null}</div>
  if (logs.error !== undefined) {
    return <Failure title="The log records could not be loaded." error={logs.error} onRetry={logs.reload} />
  }
  if (logs.data === undefined || logs.data.length === 0) {
    return (
      <Blank title="No log records">
        No log record names this span. The other records are under Logs of this trace.
      </Blank>
    )
  }
  return (
    <ul class="span-logs">
      {logs.data.map(({ time_unix_nano, record }, index) => {
        const { label, meaning } = severityOf(record.severityNumber ?? 0)
        return (
          <li key={index}>
            <Time at={time_unix_nano} precision="clock" />
            <span class="body">
              {meaning === undefined ? <span class="dim">{label} </span> : <Status meaning={meaning}>{label}</Status>}{' '}
              <LongText text={toValueText(record.body)} />
            </span>
          </li>
        )
      })}
    </ul>
  )
}

const severities: readonly (readonly [from: number, label: string, meaning: Meaning | undefined])[] = [
  [21, 'Fatal', 'failed'],
  [17, 'Error', 'failed'],
  [13, 'Warning', 'warning'],
  [9, 'Info', undefined],
  [5, 'Debug', undefined],
  [1, 'Trace', undefined],
]

function severityOf(number: number): { readonly label: string; readonly meaning: Meaning | undefined } {
  const [, label = '', meaning] = severities.find(([from]) => number >= from) ?? []
  return { label, meaning }
}
