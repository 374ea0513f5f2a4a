import type { SlowJob } from '../../api/answers.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import type { Column } from '../../components/data-table.tsx'
import { differenceText } from '../../components/duration.ts'
import { LongName } from '../../components/long-name.tsx'
import { Spark } from '../../components/spark.tsx'
import { Duration, numberText } from '../../components/text.tsx'
import { type RunsLink, shortProject } from './job-links.ts'
import { JobPanel } from './job-panel.tsx'

interface SlowestJobsProps {
  readonly jobs: readonly SlowJob[]
  readonly runsLink: RunsLink
}

/** The table of the jobs that took the most time on critical paths. */
export function SlowestJobs({ jobs, runsLink }: SlowestJobsProps) {
  return (
    <JobPanel
      id="slowest-jobs"
      title="Slowest jobs"
      note="Ranked by time on the critical path: what pipelines would save if the job took no time."
      empty="No job ran in this range."
      columns={columns(runsLink)}
      rows={jobs}
      end={
        <>
          <CsvButton
            table="Slowest jobs"
            headers={[
              'job',
              'stage',
              'project',
              'runs',
              'p50_seconds',
              'p95_seconds',
              'on_path_seconds',
              'change_seconds',
            ]}
            rows={() =>
              jobs.map((job) => [
                ...[job.name, job.stage, job.project, job.runs],
                ...[job.p50, job.p95, job.critical_seconds, job.change_seconds],
              ])
            }
          />
          <a href="/compare">Compare two runs</a>
        </>
      }
    />
  )
}

const CHANGE_SHARE = 0.05

function columns(runsLink: RunsLink): readonly Column<SlowJob>[] {
  return [
    {
      id: 'job',
      header: 'Job',
      isRowHeader: true,
      cell: ({ name, stage, project }) => (
        <a href={runsLink(project, name)} title={stage === null ? undefined : `Stage ${stage}`}>
          <LongName text={name} />
        </a>
      ),
    },
    {
      id: 'project',
      header: 'Project',
      headerClass: 'opt',
      class: 'soft opt',
      cell: ({ project }) => (
        <span title={project ?? undefined}>
          <LongName text={shortProject(project)} />
        </span>
      ),
    },
    {
      id: 'runs',
      header: 'Runs',
      headerClass: 'opt',
      class: 'opt',
      isNumeric: true,
      cell: ({ runs, project, name }) => <a href={runsLink(project, name)}>{numberText(runs)}</a>,
    },
    { id: 'p50', header: 'p50', isNumeric: true, cell: ({ p50 }) => <Duration seconds={p50} /> },
    {
      id: 'p95',
      header: 'p95',
      headerClass: 'opt',
      class: 'opt',
      isNumeric: true,
      cell: ({ p95 }) => <Duration seconds={p95} />,
    },
    {
      id: 'path',
      header: 'On path',
      class: 'strong',
      isNumeric: true,
      sort: 'descending',
      cell: ({ critical_seconds }) => <Duration seconds={critical_seconds} />,
    },
    { id: 'change', header: 'Change', isNumeric: true, cell: (job) => <Change job={job} /> },
    {
      id: 'trend',
      header: 'p50 over time',
      headerClass: 'opt gap',
      class: 'opt gap',
      cell: ({ trend }) => <Spark values={trend} />,
    },
  ]
}

/** The change of the median from the range before. It stands out if the job is at least 5 % slower. */
function Change({ job: { change_seconds, p50 } }: { readonly job: SlowJob }) {
  if (change_seconds === null) return <span class="zero">–</span>
  const isSlower = change_seconds >= 1 && change_seconds >= CHANGE_SHARE * ((p50 ?? 0) - change_seconds)
  return (
    <span class={isSlower ? 'is-warning' : 'soft'}>
      {isSlower ? '▲ ' : ''}
      {differenceText(change_seconds)}
    </span>
  )
}
