import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface ScrollProps {
  /** The name of what scrolls. */
  readonly label: string
  readonly class?: string
  readonly children: ComponentChildren
}

/** A part that scrolls if its table is too large. The keyboard can reach it then, because the table may have no link or button. */
export function Scroll({ label, class: className, children }: ScrollProps) {
  const box = useRef<HTMLDivElement>(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const measure = () =>
      setScrolls(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    measure()
    return () => observer.disconnect()
  }, [])
  // Not part of the order of tabulation while everything is seen.
  const reached = scrolls ? ({ role: 'group', 'aria-label': label, tabIndex: 0 } as const) : {}
  return (
    <div class={className === undefined ? 'scroll' : `scroll ${className}`} ref={box} {...reached}>
      {children}
    </div>
  )
}
