import type { FailingJob, FlakyJob, RetriedJob } from '../../api/answers.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import type { Column } from '../../components/data-table.tsx'
import { LongName } from '../../components/long-name.tsx'
import { Duration, numberText, percentText } from '../../components/text.tsx'
import { type RunsLink, shortProject } from './job-links.ts'
import { JobPanel } from './job-panel.tsx'

interface JobsProps<Job> {
  readonly jobs: readonly Job[]
  readonly runsLink: RunsLink
}

/** The table of the jobs that passed and failed on the same commit. */
export function FlakyJobs({ jobs, runsLink }: JobsProps<FlakyJob>) {
  return (
    <JobPanel
      id="flaky-jobs"
      title="Flaky jobs"
      note="Passed and failed on the same commit, retries included. Marks: the last 24 results, failures hang below the line."
      empty="No job both passed and failed on one commit in this range."
      columns={flakyColumns(runsLink)}
      rows={jobs}
      end={
        <CsvButton
          table="Flaky jobs"
          headers={['job', 'project', 'flaky_commits', 'commits', 'rate', 'success', 'failed']}
          rows={() =>
            jobs.map((job) => [job.name, job.project, job.shas, job.shas_total, job.rate, job.success, job.failed])
          }
        />
      }
    />
  )
}

const nameColumns = (
  runsLink: RunsLink,
): readonly Column<{ readonly name: string; readonly project: string | null }>[] => [
  {
    id: 'job',
    header: 'Job',
    isRowHeader: true,
    cell: ({ name, project }) => (
      <a href={runsLink(project, name)}>
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
]

const flakyColumns = (runsLink: RunsLink): readonly Column<FlakyJob>[] => [
  ...nameColumns(runsLink),
  { id: 'shas', header: 'Commits', isNumeric: true, cell: ({ shas, shas_total }) => `${shas} of ${shas_total}` },
  {
    id: 'rate',
    header: 'Rate',
    headerClass: 'opt',
    class: 'strong opt',
    isNumeric: true,
    cell: ({ rate }) => percentText(rate),
  },
  {
    id: 'results',
    header: 'Last results',
    cell: ({ last_results, last_trace_id }) => (
      <a href={`/traces/${encodeURIComponent(last_trace_id)}`}>
        <Results results={last_results} />
      </a>
    ),
  },
]

const STEP = 6
const WIDTH = 146

/** The last results of a job as marks: those that passed stand on a line, failures hang below it. */
function Results({ results }: { readonly results: readonly string[] }) {
  const failed = results.filter((result) => result === 'failed').length
  return (
    <svg
      class="ticks"
      viewBox={`0 0 ${WIDTH} 18`}
      preserveAspectRatio="xMaxYMid slice"
      role="img"
      aria-label={`${failed} of the last ${results.length} failed`}
    >
      <line class="gridline" x1="0" x2={WIDTH} y1="9" y2="9" />
      {results.map((result, index) => {
        const x = WIDTH - (results.length - index) * STEP
        const key = index
        return result === 'failed' ? (
          <rect key={key} class="f-failed" x={x} y="9.5" width="4" height="7" />
        ) : (
          <rect key={key} class={result === 'success' ? 'f-passed' : 'f-canceled'} x={x} y="3.5" width="3" height="5" />
        )
      })}
    </svg>
  )
}

/** The table of the jobs that failed most often. */
export function FailingJobs({ jobs, runsLink }: JobsProps<FailingJob>) {
  return (
    <JobPanel
      id="failing-jobs"
      title="Failing jobs"
      note="Failed attempts of those that passed or failed."
      empty="No job failed in this range."
      columns={failingColumns(runsLink)}
      rows={jobs}
      end={
        <CsvButton
          table="Failing jobs"
          headers={['job', 'stage', 'project', 'failed', 'success', 'rate']}
          rows={() => jobs.map((job) => [job.name, job.stage, job.project, job.failed, job.success, job.rate])}
        />
      }
    />
  )
}

const failingColumns = (runsLink: RunsLink): readonly Column<FailingJob>[] => [
  ...nameColumns(runsLink),
  {
    id: 'failed',
    header: 'Failed',
    isNumeric: true,
    sort: 'descending',
    cell: ({ failed, last_trace_id }) => (
      <a href={`/traces/${encodeURIComponent(last_trace_id)}`}>{numberText(failed)}</a>
    ),
  },
  { id: 'rate', header: 'Rate', class: 'strong', isNumeric: true, cell: ({ rate }) => percentText(rate) },
]

/** The table of the jobs that were retried most often. */
export function Retries({ jobs, runsLink }: JobsProps<RetriedJob>) {
  return (
    <JobPanel
      id="retries"
      title="Retries"
      note="Lost is the time of all attempts but the last."
      empty="No job was retried in this range."
      columns={retryColumns(runsLink)}
      rows={jobs}
      end={
        <CsvButton
          table="Retries"
          headers={['job', 'stage', 'project', 'runs', 'retries', 'lost_seconds']}
          rows={() => jobs.map((job) => [job.name, job.stage, job.project, job.runs, job.retries, job.lost_seconds])}
        />
      }
    />
  )
}

function retryColumns(runsLink: RunsLink): readonly Column<RetriedJob>[] {
  return [
    {
      id: 'job',
      header: 'Job',
      isRowHeader: true,
      cell: ({ name, project }) => (
        <a href={runsLink(project, name)}>
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
    { id: 'runs', header: 'Runs', isNumeric: true, cell: ({ runs }) => numberText(runs) },
    {
      id: 'retries',
      header: 'Retries',
      isNumeric: true,
      sort: 'descending',
      cell: ({ retries }) => numberText(retries),
    },
    {
      id: 'lost',
      header: 'Lost',
      class: 'strong',
      isNumeric: true,
      cell: ({ lost_seconds }) => <Duration seconds={lost_seconds} />,
    },
  ]
}
