import type { TraceSummary } from '../../api/traces.ts'
import type { Column } from '../../components/data-table.tsx'
import { LongName } from '../../components/long-name.tsx'
import { FailedCount } from '../../components/status.tsx'
import { Ago, Duration, numberText } from '../../components/text.tsx'
import { traceErrors, traceName } from './trace-words.ts'

/** Returns the seconds from the first start to the last end of a trace. */
export function traceSeconds(trace: Pick<TraceSummary, 'start_time_unix_nano' | 'end_time_unix_nano'>): number {
  return Number(BigInt(trace.end_time_unix_nano) - BigInt(trace.start_time_unix_nano)) / 1e9
}

/** The columns of the table of traces. */
export const traceColumns: readonly Column<TraceSummary>[] = [
  {
    id: 'name',
    header: 'Trace',
    isRowHeader: true,
    cell: (trace) => (
      <>
        <a class="strong" href={`/traces/${encodeURIComponent(trace.trace_id)}`} title={trace.trace_id}>
          <LongName text={traceName(trace)} />
        </a>
        {trace.run?.ref == null ? null : (
          <span class="of soft">
            <LongName text={trace.run.ref} />
          </span>
        )}
      </>
    ),
  },
  {
    id: 'service',
    header: 'Services',
    headerClass: 'opt',
    class: 'soft opt',
    cell: ({ services, root }) => {
      const first = root?.service ?? services[0] ?? '–'
      const others = services.length - 1
      return <bdi title={services.join(', ')}>{others > 0 ? `${first} and ${others} more` : first}</bdi>
    },
  },
  {
    id: 'start',
    header: 'Started',
    class: 'soft',
    isNumeric: true,
    sort: 'descending',
    cell: ({ start_time_unix_nano }) => <Ago at={start_time_unix_nano} />,
  },
  {
    id: 'duration',
    header: 'Duration',
    class: 'strong',
    isNumeric: true,
    cell: (trace) => <Duration seconds={traceSeconds(trace)} />,
  },
  {
    id: 'spans',
    header: 'Spans',
    headerClass: 'opt',
    class: 'opt',
    isNumeric: true,
    cell: ({ spans }) => numberText(spans),
  },
  { id: 'errors', header: 'Errors', isNumeric: true, cell: (trace) => <ErrorCount trace={trace} /> },
]

function ErrorCount({ trace }: { readonly trace: TraceSummary }) {
  const isAllowed = trace.run !== null && trace.run.status === 'success'
  return <FailedCount count={traceErrors(trace)} meaning={isAllowed ? 'warning' : 'failed'} />
}
