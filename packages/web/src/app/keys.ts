import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** A key, or keys pressed one after another, such as `g p`, and what they do. */
export interface KeyBinding {
  readonly keys: string
  readonly label: string
  readonly run: () => void
}

/** Keys that belong together in the list of all keys. */
export interface KeyGroup {
  readonly name: string
  readonly bindings: readonly KeyBinding[]
}

/** The keys that work now, in the order in which their components were shown. */
export const keyGroups = signal<readonly KeyGroup[]>([])

const SEQUENCE_MS = 1500

/** Makes keys work while the component is shown, and lists them in the dialog of all keys. */
export function useKeys(name: string, bindings: readonly KeyBinding[]): void {
  useEffect(() => {
    const group = { name, bindings }
    keyGroups.value = [...keyGroups.peek(), group]
    return () => {
      keyGroups.value = keyGroups.peek().filter((other) => other !== group)
    }
  }, [name, bindings])
}

/** Runs key bindings. Keys typed into fields, or with Ctrl, Alt or Meta, are left alone, and so are those over a dialog. */
export function listenToKeys(): void {
  let pressed: { readonly key: string; readonly atMs: number } | undefined
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return
    if (document.querySelector('dialog[open]') !== null) return
    const isSecond = pressed !== undefined && event.timeStamp - pressed.atMs < SEQUENCE_MS
    const binding = (isSecond ? bindingOf(`${pressed?.key} ${event.key}`) : undefined) ?? bindingOf(event.key)
    pressed = binding === undefined ? { key: event.key, atMs: event.timeStamp } : undefined
    if (binding === undefined) return
    event.preventDefault()
    binding.run()
  })
}

/** Returns the binding of keys. The component that was shown last wins. */
function bindingOf(keys: string): KeyBinding | undefined {
  return keyGroups
    .peek()
    .flatMap((group) => group.bindings)
    .findLast((binding) => binding.keys === keys)
}

function isTyped(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input:not([type="checkbox"]), select, textarea') !== null
}
