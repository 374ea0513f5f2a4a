import type { PipelineRun } from '../../api/answers.ts'
import type { Column } from '../../components/data-table.tsx'
import { toSeconds } from '../../components/duration.ts'
import { Forge } from '../../components/forge.tsx'
import { LongName } from '../../components/long-name.tsx'
import { FailedCount, Status } from '../../components/status.tsx'
import { Ago, Duration } from '../../components/text.tsx'
import { runShape, SHAPE_HEIGHT, SHAPE_WIDTH } from './run-shape.ts'
import { runAddress, runName, triggerText } from './run-words.ts'

/** The columns of the table of runs. Narrow windows leave some out; see the styles. */
export const runColumns: readonly Column<PipelineRun>[] = [
  {
    id: 'status',
    header: <span>Status</span>,
    headerClass: 'c-status',
    class: 'c-status',
    cell: (run) => <Status status={run.status} />,
  },
  { id: 'run', header: 'Run', isRowHeader: true, cell: (run) => <RunName run={run} /> },
  {
    id: 'forge',
    header: <span>Forge</span>,
    headerClass: 'c-forge',
    class: 'forge-cell soft',
    cell: (run) => (run.forge === null ? <span class="zero">–</span> : <Forge forge={run.forge} />),
  },
  {
    id: 'project',
    header: 'Project',
    headerClass: 'c-project',
    class: 'project-cell soft',
    cell: (run) => <LongName text={run.project ?? run.service} />,
  },
  {
    id: 'ref',
    header: 'Ref',
    headerClass: 'c-ref',
    class: 'ref-cell',
    cell: (run) => <Cut text={run.ref} class="ref cut" />,
  },
  {
    id: 'trigger',
    header: 'Trigger',
    headerClass: 'c-trigger',
    class: 'trigger-cell soft',
    cell: (run) => triggerText(run.trigger),
  },
  {
    id: 'start',
    header: 'Started',
    headerClass: 'c-start',
    class: 'start-cell soft',
    isNumeric: true,
    sort: 'descending',
    cell: (run) => <Ago at={run.start_ns} />,
  },
  {
    id: 'shape',
    header: 'Jobs over time',
    headerClass: 'c-shape',
    class: 'shape-cell',
    cell: (run) => <Shape run={run} />,
  },
  {
    id: 'duration',
    header: 'Duration',
    headerClass: 'c-n',
    class: 'strong',
    isNumeric: true,
    cell: (run) => <Duration seconds={finalSeconds(run)} />,
  },
  {
    id: 'busy',
    header: 'Busy',
    headerClass: 'c-n c-busy',
    class: 'busy-cell',
    isNumeric: true,
    cell: (run) => <Duration seconds={run.busy_seconds} />,
  },
  {
    id: 'queue',
    header: 'Queue',
    headerClass: 'c-q',
    class: 'q-cell soft',
    isNumeric: true,
    cell: (run) => <Duration seconds={run.queue_seconds} />,
  },
  {
    id: 'failed',
    header: 'Failed',
    headerClass: 'c-f',
    isNumeric: true,
    cell: (run) => (
      <span title={run.failed_jobs.length === 0 ? undefined : run.failed_jobs.join(', ')}>
        {run.jobs_failed === 0 && run.failed_jobs.length > 0 ? (
          <span class="soft">in child</span>
        ) : (
          <FailedCount count={run.jobs_failed} meaning={run.status === 'success' ? 'warning' : 'failed'} />
        )}
      </span>
    ),
  },
]

/** Returns the duration of a run that lasted; a skipped run has none. */
function finalSeconds(run: PipelineRun): number | null {
  return Number(run.duration_ns) === 0 ? null : toSeconds(run.duration_ns)
}

function RunName({ run }: { readonly run: PipelineRun }) {
  return (
    <>
      <div class="name">
        <a href={runAddress(run)}>
          <LongName text={runName(run)} />
        </a>
        {run.is_child ? <span class="tag">child</span> : null}
        {run.title === null ? null : (
          <span class="title cut" title={run.title}>
            <bdi>{run.title}</bdi>
          </span>
        )}
      </div>
      <span class="sub cut">
        {run.forge === null ? null : <Forge forge={run.forge} />}
        <bdi>{run.ref ?? run.service}</bdi>, <Ago at={run.start_ns} />
      </span>
    </>
  )
}

function Cut({ text, class: className = 'cut' }: { readonly text: string | null; readonly class?: string }) {
  if (text === null) return <span class="zero">–</span>
  return (
    <div class={className} title={text}>
      {text}
    </div>
  )
}

function Shape({ run }: { readonly run: PipelineRun }) {
  const { lines, thickness } = runShape(run)
  return (
    <svg class="shape" viewBox={`0 0 ${SHAPE_WIDTH} ${SHAPE_HEIGHT}`} aria-hidden="true">
      {lines.map(({ meaning, path }) => (
        <path key={meaning} class={`s-${meaning}`} stroke-width={thickness} d={path} />
      ))}
    </svg>
  )
}
