import { SPARK_HEIGHT, SPARK_WIDTH, sparkline } from './sparkline.ts'

interface SparkProps {
  readonly values: readonly (number | null)[]
  /** The value at the bottom; the lowest one unless it is given. */
  readonly bottom?: number
}

/** A small line without a name: the same numbers have to be in text or in a table beside it. */
export function Spark({ values, bottom }: SparkProps) {
  return (
    <svg class="spark" viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="ln p50" d={sparkline(values, bottom)} />
    </svg>
  )
}
