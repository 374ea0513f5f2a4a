import { afterEach, beforeEach, describe } from 'vitest'
import { nodeInternals } from '../contract/gateway-config.ts'
import { avoidNodeInternals } from '../node-internals/avoided.ts'
import { defaultListenerSettings } from './listener.ts'

let { fastPath } = defaultListenerSettings

/** Returns whether the next listener reads requests without Node's parsers, unless its settings say otherwise. */
export const isOnFastPath = (): boolean => fastPath

/**
 * Runs tests twice: with requests that the gateway reads itself where it can, and with all of them read by Node's parsers. The
 * environment variable TEST_FALL_BACKS adds a third run, by Node's parsers without the undocumented parts of Node.
 */
export function onBothPaths(tests: () => void): void {
  const paths: [string, boolean, boolean][] = [
    ['on the fast path', true, false],
    ["by Node's parsers", false, false],
  ]
  if (process.env.TEST_FALL_BACKS !== undefined) paths.push(["without Node's undocumented parts", false, true])
  describe.each(paths)('read %s', (_, isFast, isAvoiding) => {
    beforeEach(() => {
      fastPath = isFast
      if (isAvoiding) avoidNodeInternals(nodeInternals)
    })
    afterEach(() => {
      fastPath = defaultListenerSettings.fastPath
      avoidNodeInternals([])
    })
    tests()
  })
}
