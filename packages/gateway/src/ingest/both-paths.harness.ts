import { afterEach, beforeEach, describe } from 'vitest'
import { defaultListenerSettings } from './listener.ts'

let { fastPath } = defaultListenerSettings

/** Returns whether the next listener reads requests without Node's parsers, unless its settings say otherwise. */
export const isOnFastPath = (): boolean => fastPath

/** Runs tests twice: with requests that the gateway reads itself where it can, and with all of them read by Node's parsers. */
export function onBothPaths(tests: () => void): void {
  describe.each([
    ['on the fast path', true],
    ["by Node's parsers", false],
  ])('read %s', (_, isFast) => {
    beforeEach(() => {
      fastPath = isFast
    })
    afterEach(() => {
      fastPath = defaultListenerSettings.fastPath
    })
    tests()
  })
}
