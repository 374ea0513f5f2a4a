import type { Comparison, JobChange, JobDifference } from '../../api/answers.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { differenceText } from '../../components/duration.ts'
import { LongName } from '../../components/long-name.tsx'
import { Scroll } from '../../components/scroll.tsx'
import { Status } from '../../components/status.tsx'
import { Duration } from '../../components/text.tsx'
import { place, setQuery } from '../../location.ts'
import { isSmall, SMALL_SECONDS, secondsChanged } from './comparison-sentence.ts'

/** The table of the jobs of two runs, the differences that matter most first. */
export function Differences({ comparison }: { readonly comparison: Comparison }) {
  const { jobs, base } = comparison
  const showsAll = place.value.query.get('all') === '1'
  const shown = showsAll ? jobs : jobs.filter((job) => !isSmall(job))
  const hidden = jobs.filter(isSmall).length
  const largest = Math.max(1, ...jobs.map((job) => Math.abs(secondsChanged(job, base))))
  return (
    <section class="panel" aria-labelledby="job-by-job">
      <header>
        <h2 id="job-by-job">Job by job</h2>
        <span class="end">
          <CsvButton
            table="Differences"
            headers={['job', 'stage', 'a_seconds', 'b_seconds', 'delta_seconds', 'a_status', 'b_status', 'change']}
            rows={() =>
              jobs.map((job) => [
                ...[job.name, job.stage, job.a_seconds, job.b_seconds],
                ...[job.delta_seconds, job.a_status, job.b_status, job.change],
              ])
            }
          />
          <label class="check">
            <input
              type="checkbox"
              checked={!showsAll}
              onChange={(event) => setQuery({ all: event.currentTarget.checked ? null : '1' })}
            />
            Only differences above {SMALL_SECONDS} s
          </label>
        </span>
      </header>
      <Scroll label="Differences">
        <DataTable
          label="Differences"
          class="cmp"
          columns={columns(base, largest)}
          rows={shown}
          rowKey={({ name, stage }) => JSON.stringify([stage, name])}
        />
      </Scroll>
      <p class="note">
        {shown.length === 0 ? 'No job differs by more. ' : ''}
        {hidden} {hidden === 1 ? 'job differs' : 'jobs differ'} by {SMALL_SECONDS} s or less.
      </p>
    </section>
  )
}

function columns(base: 'a' | 'b', largest: number): readonly Column<JobDifference>[] {
  return [
    { id: 'job', header: 'Job', isRowHeader: true, cell: ({ name }) => <LongName text={name} /> },
    {
      id: 'stage',
      header: 'Stage',
      headerClass: 'opt',
      class: 'soft opt',
      cell: ({ stage }) => <LongName text={stage ?? '–'} />,
    },
    { id: 'a', header: 'A', isNumeric: true, cell: ({ a_seconds }) => <Duration seconds={a_seconds} /> },
    { id: 'b', header: 'B', isNumeric: true, cell: ({ b_seconds }) => <Duration seconds={b_seconds} /> },
    {
      id: 'change',
      header: base === 'a' ? 'Change' : 'From the median',
      class: 'strong',
      isNumeric: true,
      cell: (job) => <Delta job={job} base={base} />,
    },
    {
      id: 'bar',
      header: 'Faster, slower',
      headerClass: 'opt',
      class: 'opt',
      cell: (job) => <DeltaBar job={job} base={base} largest={largest} />,
    },
    { id: 'result', header: 'Result', cell: (job) => <Result job={job} base={base} /> },
  ]
}

interface CellProps {
  readonly job: JobDifference
  readonly base: 'a' | 'b'
}

function Delta({ job, base }: CellProps) {
  const { a_seconds, b_seconds, change } = job
  if (a_seconds === null && b_seconds === null) return <span class="zero">–</span>
  const text = differenceText(secondsChanged(job, base))
  if (change === 'slower') return <span class="is-warning">▲ {text}</span>
  if (change === 'faster') return <span class="is-passed">▼ {text}</span>
  return <span class="soft">{text}</span>
}

function DeltaBar({ job, base, largest }: CellProps & { readonly largest: number }) {
  const seconds = secondsChanged(job, base)
  if (seconds === 0) return null
  const direction = seconds > 0 ? 'up' : 'down'
  // The time of a failed job says little: the job was cut off.
  const isCutOff = job.a_status === 'failed' || job.b_status === 'failed'
  return (
    <span class="delta-bar">
      <i
        class={isCutOff ? `${direction} cut-off` : direction}
        style={{ '--v': String((Math.abs(seconds) / largest) * 50) }}
      />
    </span>
  )
}

function Result({ job, base }: CellProps) {
  const { a_status, b_status, change } = job
  const word = sideWord(change, base)
  if (word !== undefined) {
    return (
      <span class="status">
        <Status status={b_status ?? a_status} />
        <span class="dim">{word}</span>
      </span>
    )
  }
  if (a_status === b_status) {
    return (
      <span class="status">
        <span class="soft opt">both</span>
        <Status status={a_status} />
      </span>
    )
  }
  // In the direction in which changes count.
  const [before, after] = base === 'a' ? [a_status, b_status] : [b_status, a_status]
  return (
    <span class="status">
      <Status status={before} />
      <span class="dim">→</span>
      <Status status={after} />
    </span>
  )
}

/** Returns where a job is, if only one side has it. A new job is on the side that changes do not count from. */
function sideWord(change: JobChange, base: 'a' | 'b'): string | undefined {
  if (change !== 'new' && change !== 'gone') return undefined
  return (change === 'new') === (base === 'a') ? 'only in B' : 'only in A'
}
