import { useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../../components/copy-button.tsx'
import { type Attribute, attributeGroups, LEGACY_GROUP } from './attribute-groups.ts'
import { pageUrl } from './forge-page.ts'
import { LongText } from './long-text.tsx'
import type { TraceSpan } from './trace-span.ts'
import { nameText } from './trace-text.ts'

/** The attributes of a span and of its resource, each with a button that copies it. */
export function AttributesTab({ span }: { readonly span: TraceSpan }) {
  const [filter, setFilter] = useState('')
  const [hasLegacy, setLegacy] = useState(false)
  const groups = useMemo(() => attributeGroups(span.wire.attributes ?? [], span.resource, filter), [span, filter])
  const message = span.wire.status?.message ?? ''
  return (
    <>
      <div class="find">
        <label class="vh" for="attribute-filter">
          Filter attributes
        </label>
        <input
          id="attribute-filter"
          type="search"
          placeholder="Filter attributes"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </div>
      {message === '' ? null : (
        <>
          <h3>Status message</h3>
          <p class="status-message">
            <LongText text={message} />
          </p>
        </>
      )}
      {groups.length === 0 ? (
        <p class="none-left soft">
          {filter === '' ? 'This span has no attributes.' : 'No attribute contains this text.'}
        </p>
      ) : null}
      {groups.map(({ title, attributes }) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          {title === LEGACY_GROUP && !hasLegacy && filter === '' ? (
            <p class="none-left">
              <button class="link" type="button" onClick={() => setLegacy(true)}>
                Show {attributes.length} attributes
              </button>
            </p>
          ) : (
            <Attributes attributes={attributes} />
          )}
        </section>
      ))}
    </>
  )
}

/** Attributes as a list of names and values. */
export function Attributes({ attributes }: { readonly attributes: readonly Attribute[] }) {
  return (
    <dl class="kv">
      {attributes.map(({ key, text }, index) => {
        const url = pageUrl(text)
        return (
          <div key={index}>
            <dt>
              <bdi>
                {nameText(key)
                  .split(/(?<=[._])/)
                  .map((part) => [part, <wbr />])}
              </bdi>
            </dt>
            <dd>
              {url === undefined ? (
                <LongText text={text} />
              ) : (
                <a href={url} target="_blank" rel="noopener noreferrer">
                  <bdi>{text}</bdi>
                </a>
              )}
            </dd>
            <dd>
              <CopyButton text={text} label={`Copy ${nameText(key)}`} class="copy" isIcon />
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
