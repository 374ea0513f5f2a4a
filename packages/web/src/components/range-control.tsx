import { place, withQuery } from '../location.ts'
import { nowMs } from './now.ts'
import { parseRange, type RangeName, ranges } from './range.ts'
import { localText } from './time.ts'

/** The range of time that a page shows, kept in the query of the address. */
export function RangeControl() {
  const range = parseRange(place.value.query, nowMs.value)
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are links, not fields of a form
    <div class="segment" role="group" aria-label="Range">
      {range.name === null ? (
        <a href={withQuery({})} aria-current="true">
          {localText(range.sinceMs, 'minute', nowMs.value)} – {localText(range.untilMs, 'minute', nowMs.value)}
        </a>
      ) : null}
      {(Object.keys(ranges) as RangeName[]).map((name) => (
        <a
          key={name}
          href={withQuery({ range: name, since: null, until: null })}
          aria-current={range.name === name ? 'true' : undefined}
        >
          {name}
        </a>
      ))}
    </div>
  )
}
