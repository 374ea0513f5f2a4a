import { useMemo } from 'preact/hooks'
import type { Comparison, PipelineRun } from '../../api/answers.ts'
import { getComparison } from '../../api/compare.ts'
import { listPipelines } from '../../api/pipelines.ts'
import { keptFilters } from '../../app/kept-filters.ts'
import { useKeys } from '../../app/keys.ts'
import { FilterBar, type Option, SelectFilter } from '../../components/filter-bar.tsx'
import { nowMs } from '../../components/now.ts'
import { Blank, Failure, useDelayed } from '../../components/page-states.tsx'
import { useResource } from '../../components/resource.ts'
import { statusWord } from '../../components/status-words.ts'
import { localText, toMilliseconds } from '../../components/time.ts'
import { place, withQuery } from '../../location.ts'
import { runName } from '../pipelines/run-words.ts'
import { comparisonSentence } from './comparison-sentence.ts'
import { Differences } from './differences.tsx'
import { durationSentence } from './duration-sentence.ts'
import { isMedian, Sides, Twins } from './sides.tsx'
import './compare.css'

const OFFERED_RUNS = 100

/** The page Compare: two runs job by job, or a run and what is usual for it. */
export default function ComparePage() {
  const { query } = place.value
  const [a, b] = [query.get('a'), query.get('b')]
  const runs = useResource('runs', async (signal) => (await listPipelines({ limit: OFFERED_RUNS }, signal)).items)
  const comparison = useResource(a === null || b === null ? null : JSON.stringify([a, b]), (signal) =>
    getComparison(a ?? '', b ?? '', signal),
  )
  const { reload } = comparison
  useKeys(
    'Compare',
    useMemo(() => [{ keys: 'r', label: 'Refresh', run: reload }], [reload]),
  )
  const options = optionsOf(runs.data ?? [], comparison.data)
  return (
    <>
      <div class="head">
        <div>
          <div class="crumbs">
            <a href={keptFilters.addressOfPath('/pipelines', place.value)}>Pipelines</a>
            <span aria-hidden="true">/</span>
            <bdi>{comparison.data?.a.project ?? 'two runs'}</bdi>
          </div>
          <h1>Compare</h1>
        </div>
        <div class="end">
          {a === null || b === null || b === 'median' ? null : (
            <a class="btn" href={withQuery({ a: b, b: a })}>
              Swap A and B
            </a>
          )}
          {a === null || b === 'median' ? null : (
            <a class="btn" href={withQuery({ b: 'median' })}>
              Compare A with what is usual
            </a>
          )}
        </div>
      </div>
      <FilterBar label="Runs to compare">
        <SelectFilter label="Run A" name="a" any="Select a run" options={options} />
        <SelectFilter
          label="Run B"
          name="b"
          any="Select a run"
          options={[{ value: 'median', label: 'Usual: median of the runs before A' }, ...options]}
        />
      </FilterBar>
      {runs.error !== undefined && comparison.data === undefined ? (
        <div class="panel">
          <Failure title="The runs could not be loaded." error={runs.error} onRetry={runs.reload} />
        </div>
      ) : a === null || b === null ? (
        <div class="panel">
          <Blank
            title="Select two runs"
            action={
              <a class="btn" href={keptFilters.addressOfPath('/pipelines', place.value)}>
                Go to Pipelines
              </a>
            }
          >
            <p>
              Select a run as A, and another one as B, or what is usual for A: the median of the last 20 successful runs
              of its kind before it.
            </p>
          </Blank>
        </div>
      ) : (
        <Loaded comparison={comparison} />
      )}
    </>
  )
}

function Loaded({
  comparison,
}: {
  readonly comparison: ReturnType<typeof useResource<Awaited<ReturnType<typeof getComparison>>>>
}) {
  const { data, error, isLoading, reload } = comparison
  const isLong = useDelayed(isLoading && data === undefined)
  if (error !== undefined && !isLoading) {
    if (error.status === 404) return <NotStored />
    return (
      <div class="panel">
        <Failure title="The runs could not be compared." error={error} onRetry={reload} />
      </div>
    )
  }
  if (data === undefined) {
    return (
      <div class="panel waiting" aria-busy="true">
        {isLong ? <span class="skeleton" /> : null}
      </div>
    )
  }
  // Without earlier runs, nothing can be said about the jobs.
  if (isMedian(data.b) && data.b.runs === 0) return <Sides comparison={data} />
  const sentence = [...durationSentence(data), ...comparisonSentence(data)]
  return (
    <>
      <Sides comparison={data} />
      {sentence.length === 0 ? null : (
        // Announced when other runs are selected.
        <p class="lede" role="status">
          {sentence.map(({ text, isName }) =>
            isName ? (
              <b>
                <bdi>{text}</bdi>
              </b>
            ) : (
              text
            ),
          )}
        </p>
      )}
      {isMedian(data.b) ? null : <Twins a={data.a} b={data.b} />}
      <Differences comparison={data} />
    </>
  )
}

function NotStored() {
  return (
    <div class="panel">
      <Blank
        title="One of these runs is not stored"
        action={
          <a class="btn" href={keptFilters.addressOfPath('/pipelines', place.value)}>
            Go to Pipelines
          </a>
        }
      >
        <p>The store may have deleted it because of its age. Select another run.</p>
      </Blank>
    </div>
  )
}

/** Returns the runs to choose from: the latest ones, and those that are compared. */
function optionsOf(runs: readonly PipelineRun[], comparison: Comparison | undefined): Option[] {
  const compared = comparison === undefined ? [] : [comparison.a, ...(isMedian(comparison.b) ? [] : [comparison.b])]
  const all = new Map([...runs, ...compared].map((run) => [run.trace_id, run]))
  return [...all.values()].map((run) => ({ value: run.trace_id, label: optionText(run) }))
}

function optionText(run: PipelineRun): string {
  const started = localText(toMilliseconds(run.start_ns), 'minute', nowMs.value)
  return [runName(run), run.ref, statusWord(run.status).label, started].filter((text) => text !== null).join(', ')
}
