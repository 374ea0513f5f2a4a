import type { Insights } from '../../api/answers.ts'
import { durationText } from '../../components/duration.ts'
import { numberText, percentText } from '../../components/text.tsx'

/** The four numbers of the range, each with its change from the range before. */
export function Figures({ insights: { totals, previous, total_minutes } }: { readonly insights: Insights }) {
  return (
    <dl class="panel figures">
      <div>
        <dt>Median duration</dt>
        <dd>{durationText(totals.duration_p50)}</dd>
        <Slower before={previous.duration_p50} now={totals.duration_p50} />
      </div>
      <div>
        <dt>95th percentile</dt>
        <dd>{durationText(totals.duration_p95)}</dd>
        <Slower before={previous.duration_p95} now={totals.duration_p95} />
      </div>
      <div>
        <dt>Failure rate</dt>
        <dd>{percentText(totals.failure_rate)}</dd>
        <Points before={previous.failure_rate} now={totals.failure_rate} />
      </div>
      <div>
        <dt>Compute time</dt>
        <dd>{numberText(Math.round(total_minutes))} min</dd>
        <dd class="delta soft">all jobs of {numberText(totals.runs)} runs</dd>
      </div>
    </dl>
  )
}

interface ChangeProps {
  readonly before: number | null
  readonly now: number | null
}

/** Changes of less than this are called the same. */
const SAME_SECONDS = 0.05
const SAME_POINTS = 0.05

function Slower({ before, now }: ChangeProps) {
  if (before === null || now === null) return <dd class="delta soft">no runs before</dd>
  const change = now - before
  if (Math.abs(change) < SAME_SECONDS) return <dd class="delta soft">as before</dd>
  return change > 0 ? (
    <dd class="delta is-warning">▲ {durationText(change)} slower</dd>
  ) : (
    <dd class="delta is-passed">▼ {durationText(-change)} faster</dd>
  )
}

function Points({ before, now }: ChangeProps) {
  if (before === null || now === null) return <dd class="delta soft">no runs before</dd>
  const change = (now - before) * 100
  if (Math.abs(change) < SAME_POINTS) return <dd class="delta soft">as before</dd>
  const points = `${Math.abs(change).toFixed(1)} points`
  return change > 0 ? (
    <dd class="delta is-warning">▲ {points} higher</dd>
  ) : (
    <dd class="delta is-passed">▼ {points} lower</dd>
  )
}
