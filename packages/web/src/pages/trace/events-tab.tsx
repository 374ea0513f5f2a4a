import { parseNanoseconds, toValueText } from '../../api/otlp-json.ts'
import { Blank } from '../../components/page-states.tsx'
import { Attributes } from './attributes-tab.tsx'
import type { TraceSpan } from './trace-span.ts'
import { durationText, nameText } from './trace-text.ts'

const MAX_EVENTS = 200

/** The events of a span, with their time since the start of the trace. */
export function EventsTab({ span, baseNs }: { readonly span: TraceSpan; readonly baseNs: bigint }) {
  const events = span.wire.events ?? []
  if (events.length === 0) {
    return <Blank title="No events">This span carries no span events. Its log records are under Logs.</Blank>
  }
  return (
    <>
      {events.slice(0, MAX_EVENTS).map((event, index) => {
        const atNs = parseNanoseconds(event.timeUnixNano)
        return (
          <section key={index}>
            <h3>
              <bdi>{nameText(event.name ?? '')}</bdi>{' '}
              <span class="soft">{atNs === undefined ? '' : `at ${durationText(Number(atNs - baseNs))}`}</span>
            </h3>
            <Attributes
              attributes={(event.attributes ?? []).map(({ key, value }) => ({
                key: key ?? '',
                text: toValueText(value),
              }))}
            />
          </section>
        )
      })}
      {events.length > MAX_EVENTS ? (
        <p class="none-left soft">
          The first {MAX_EVENTS} of {events.length} events are shown.
        </p>
      ) : null}
    </>
  )
}
