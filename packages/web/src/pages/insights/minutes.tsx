import type { ComputeMinutes, MinutesBy } from '../../api/answers.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { LongName } from '../../components/long-name.tsx'
import { Scroll } from '../../components/scroll.tsx'
import { numberText, percentText } from '../../components/text.tsx'
import { place, withQuery } from '../../location.ts'

interface MinutesProps {
  readonly minutes: readonly ComputeMinutes[]
  /** The minutes of all jobs. Tags overlap, so shares are of this. */
  readonly total: number
  readonly runsLink: (project: string | null) => string
  /** The number of entries of each grouping that the service returns at most. */
  readonly limit: number
}

const groupings: readonly (readonly [by: MinutesBy, label: string])[] = [
  ['project', 'Project'],
  ['runner', 'Runner'],
  ['tag', 'Tag'],
]

/** The table of the minutes that jobs ran, by project, by runner or by tag. */
export function Minutes({ minutes, total, runsLink, limit }: MinutesProps) {
  const asked = place.value.query.get('minutes')
  const [by, label] = groupings.find(([name]) => name === asked) ?? groupings[0]!
  const entries = minutes.filter((entry) => entry.by === by)
  return (
    <section class="panel" aria-labelledby="compute-minutes">
      <header>
        <h2 id="compute-minutes">Compute minutes</h2>
        <span class="end">
          <CsvButton
            table="Compute minutes"
            headers={['by', 'name', 'minutes', 'jobs']}
            rows={() => minutes.map((entry) => [entry.by, entry.name, entry.minutes, entry.jobs])}
          />
        </span>
        {/* biome-ignore lint/a11y/useSemanticElements: these are links, not fields of a form */}
        <div class="segment" role="group" aria-label="Group by">
          {groupings.map(([name, text]) => (
            <a
              key={name}
              href={withQuery({ minutes: name === 'project' ? null : name })}
              aria-current={name === by ? 'true' : undefined}
            >
              {text}
            </a>
          ))}
        </div>
      </header>
      <p class="note">
        {numberText(Math.round(total))} minutes in all. By tag, a job counts fully under each of its tags.
        {entries.length < limit ? null : ` The table is cut after the ${numberText(limit)} largest.`}
      </p>
      {entries.length === 0 ? (
        <p class="note">No job of this range has a {label.toLowerCase()}.</p>
      ) : (
        <Scroll label="Compute minutes" class="tall">
          <DataTable
            label="Compute minutes"
            columns={columns(label, by, total, runsLink)}
            rows={entries}
            rowKey={({ name }) => name}
          />
        </Scroll>
      )}
    </section>
  )
}

function columns(
  label: string,
  by: MinutesBy,
  total: number,
  runsLink: (project: string | null) => string,
): readonly Column<ComputeMinutes>[] {
  const share = (minutes: number) => (total === 0 ? 0 : minutes / total)
  return [
    {
      id: 'name',
      header: label,
      isRowHeader: true,
      cell: ({ name }) =>
        by === 'project' ? (
          <a href={runsLink(name)}>
            <LongName text={name} />
          </a>
        ) : (
          <LongName text={name} />
        ),
    },
    {
      id: 'minutes',
      header: 'Minutes',
      class: 'strong',
      isNumeric: true,
      sort: 'descending',
      cell: ({ minutes }) => numberText(Math.round(minutes)),
    },
    {
      id: 'jobs',
      header: 'Jobs',
      headerClass: 'opt',
      class: 'opt',
      isNumeric: true,
      cell: ({ jobs }) => numberText(jobs),
    },
    { id: 'share', header: 'Share', isNumeric: true, cell: ({ minutes }) => percentText(share(minutes)) },
    {
      id: 'drawing',
      header: <span class="vh">Share drawn</span>,
      headerClass: 'opt drawing',
      class: 'opt drawing',
      cell: ({ minutes }) => (
        <span class="meter">
          <i style={{ '--v': String(Math.min(100, share(minutes) * 100)) }} />
        </span>
      ),
    },
  ]
}
