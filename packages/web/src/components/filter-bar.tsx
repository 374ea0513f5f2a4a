import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { place, setQuery } from '../location.ts'

interface FilterBarProps {
  /** The accessible name, for example `Filter pipeline runs`. */
  readonly label: string
  readonly children: ComponentChildren
  /** A summary of what the filters leave, which is announced when it changes. */
  readonly summary?: ComponentChildren
}

/** The filters of a page. Each filter keeps its value in the query of the address. */
export function FilterBar({ label, children, summary }: FilterBarProps) {
  return (
    <search class="bar" aria-label={label}>
      {children}
      <span class="end" role="status">
        {summary}
      </span>
    </search>
  )
}

export interface Option {
  readonly value: string
  readonly label: string
}

interface SelectFilterProps {
  readonly label: string
  /** The name in the query. */
  readonly name: string
  readonly options: readonly (Option | string)[]
  /** The label of the option that filters nothing. */
  readonly any: string
}

/** A choice of one value. A value of the address that is not among the options is offered too. */
export function SelectFilter({ label, name, options, any }: SelectFilterProps) {
  const id = useId()
  const value = place.value.query.get(name) ?? ''
  const offered = options.map((option) => (typeof option === 'string' ? { value: option, label: option } : option))
  const isOffered = value === '' || offered.some((option) => option.value === value)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        <option value="">{any}</option>
        {isOffered ? null : <option value={value}>{value}</option>}
        {offered.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  )
}

interface TextFilterProps {
  readonly label: string
  readonly name: string
  readonly placeholder?: string
  /** `search` is reached with the key `/`. */
  readonly type?: 'text' | 'search'
  /** Values that are suggested. */
  readonly suggestions?: readonly string[]
  readonly maxLength?: number
  readonly class?: string
}

const TYPING_MS = 250

/** A text. It is applied while the user types, after a short pause. */
export function TextFilter({
  label,
  name,
  placeholder,
  type = 'text',
  suggestions,
  maxLength,
  class: className,
}: TextFilterProps) {
  const id = useId()
  const applied = place.value.query.get(name) ?? ''
  const [typed, setTyped] = useState(applied)
  const timer = useRef(0)
  useEffect(() => setTyped(applied), [applied])
  useEffect(() => () => clearTimeout(timer.current), [])
  const apply = (text: string) => {
    clearTimeout(timer.current)
    if (text !== (place.peek().query.get(name) ?? '')) setQuery({ [name]: text }, { replace: true })
  }
  return (
    <div class={className === undefined ? 'field' : `field ${className}`}>
      <label for={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={typed}
        placeholder={placeholder}
        maxLength={maxLength}
        spellcheck={false}
        autocomplete="off"
        list={suggestions === undefined ? undefined : `${id}-list`}
        onInput={(event) => {
          const text = event.currentTarget.value
          setTyped(text)
          clearTimeout(timer.current)
          timer.current = window.setTimeout(() => apply(text), TYPING_MS)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(event.currentTarget.value)
        }}
      />
      {suggestions === undefined ? null : (
        <datalist id={`${id}-list`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </div>
  )
}

/** A choice of yes or no. The query has `name=1` if it is chosen. */
export function CheckFilter({ label, name }: { readonly label: string; readonly name: string }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={place.value.query.get(name) === '1'}
        onChange={(event) => setQuery({ [name]: event.currentTarget.checked ? '1' : null })}
      />
      {label}
    </label>
  )
}
