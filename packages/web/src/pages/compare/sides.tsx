import type { Comparison, MedianRun, PipelineRun, RefKind } from '../../api/answers.ts'
import { durationText, toSeconds } from '../../components/duration.ts'
import { Status } from '../../components/status.tsx'
import { Duration, Time } from '../../components/text.tsx'
import { runShape } from '../pipelines/run-shape.ts'
import { runAddress, runName, triggerText } from '../pipelines/run-words.ts'

/** The two sides of a comparison. */
export function Sides({ comparison: { a, b } }: { readonly comparison: Comparison }) {
  return (
    <section class="panel" aria-label="Runs">
      <div class="pair">
        <Side letter="A" run={a} />
        <div class="vs">vs</div>
        {isMedian(b) ? <MedianSide median={b} /> : <Side letter="B" run={b} />}
      </div>
    </section>
  )
}

const refKinds: Readonly<Record<RefKind, string>> = {
  default_branch: 'default branch',
  other_branch: 'branches other than the default one',
  tag: 'tags',
  merge_request: 'merge requests',
}

/** Returns what the runs have in common that a run is compared with. */
function kindText({ name, ref_kind, trigger }: MedianRun): string {
  const parts = [
    name === null ? null : `pipeline ${name}`,
    ref_kind === null ? null : refKinds[ref_kind],
    trigger === null ? null : `started by ${triggerText(trigger)}`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

export function isMedian(side: PipelineRun | MedianRun): side is MedianRun {
  return 'kind' in side && side.kind === 'median'
}

function Letter({ letter }: { readonly letter: 'A' | 'B' }) {
  return <span class={letter === 'A' ? 'letter' : 'letter b'}>{letter}</span>
}

function Side({ letter, run }: { readonly letter: 'A' | 'B'; readonly run: PipelineRun }) {
  return (
    <div class="side-run">
      <div class="status">
        <Letter letter={letter} />
        <a class="strong" href={runAddress(run)}>
          {runName(run)}
        </a>
        <Status status={run.status} isChip />
      </div>
      <p class="soft cut">
        {run.sha === null ? null : <span class="ref">{run.sha.slice(0, 8)} </span>}
        <bdi>{[run.title, run.user].filter((text) => text !== null).join(', ')}</bdi>
      </p>
      <dl class="run-facts">
        <div>
          <dt>Duration</dt>
          <dd class="strong">
            <Duration seconds={toSeconds(run.duration_ns)} />
          </dd>
        </div>
        <div>
          <dt>Busy</dt>
          <dd>
            <Duration seconds={run.busy_seconds} />
          </dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>
            <Time at={run.start_ns} precision="minute" />
          </dd>
        </div>
      </dl>
    </div>
  )
}

function MedianSide({ median }: { readonly median: MedianRun }) {
  return (
    <div class="side-run">
      <div class="status">
        <Letter letter="B" />
        <span class="strong">Usually</span>
      </div>
      <p class="soft">
        {median.runs === 0
          ? 'No earlier successful run of this kind is stored'
          : median.runs === 1
            ? 'The last successful run before A'
            : `The median of the last ${median.runs} successful runs before A`}
        : <bdi>{kindText(median)}</bdi>.
      </p>
      <dl class="run-facts">
        <div>
          <dt>Duration</dt>
          <dd class="strong">
            <Duration seconds={median.duration_seconds} />
          </dd>
        </div>
        <div>
          <dt>Queue</dt>
          <dd>
            <Duration seconds={median.queue_seconds} />
          </dd>
        </div>
      </dl>
    </div>
  )
}

const TWIN_WIDTH = 1000
const TWIN_HEIGHT = 34
const TIMES = 5

/** The jobs of both runs from their start. The table below has the same times. */
export function Twins({ a, b }: { readonly a: PipelineRun; readonly b: PipelineRun }) {
  const longest = Math.max(1, Number(a.duration_ns), Number(b.duration_ns))
  const size = { width: TWIN_WIDTH, height: TWIN_HEIGHT, lengthNs: longest }
  return (
    <section class="panel twin" aria-labelledby="one-clock">
      <h2 id="one-clock">Both runs on one clock</h2>
      {([a, b] as const).map((run, index) => (
        <div key={run.trace_id} class="twin-row">
          <Letter letter={index === 0 ? 'A' : 'B'} />
          <svg viewBox={`0 0 ${TWIN_WIDTH} ${TWIN_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {runShape(run, size).lines.map(({ meaning, path }) => (
              <path key={meaning} class={`s-${meaning}`} d={path} />
            ))}
          </svg>
          <span class="num soft">{durationText(toSeconds(run.duration_ns))}</span>
        </div>
      ))}
      <div class="x" aria-hidden="true">
        {Array.from({ length: TIMES }, (_, index) => {
          const seconds = (longest / 1e9 / (TIMES - 1)) * index
          return <span key={seconds}>{seconds === 0 ? '0' : durationText(seconds)}</span>
        })}
      </div>
    </section>
  )
}
