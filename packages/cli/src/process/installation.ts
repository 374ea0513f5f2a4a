import { readFileSync } from 'node:fs'

/** How the running program was installed. Packages and images have a file that says so; a checkout has none. */
const installationKinds = ['checkout', 'package', 'image'] as const

export type InstallationKind = (typeof installationKinds)[number]

export interface Installation {
  readonly kind: InstallationKind
  /** The version of the running Node, such as `24.21.0`. */
  readonly nodeVersion: string
}

/** Returns the kind that the file names; `checkout` if there is no such file. */
export function readInstallationKind(file: URL): InstallationKind {
  let named: string
  try {
    named = readFileSync(file, 'utf8').trim()
  } catch {
    return 'checkout'
  }
  return installationKinds.find((kind) => kind === named) ?? 'package'
}

/** The oldest Node that the program runs on. It is also `engines` of the packages. */
export const oldestNode = '20.19.0'

/** The major versions of Node with which CI runs tests, and what it runs. docs/guides/installing.md has the same table. */
export const testedNodes = [
  { major: 20, tested: 'all tests' },
  {
    major: 24,
    tested: 'the unit tests, the architecture test, the golden files and `npm start`; the image contains this version',
  },
] as const

type NodeSupport = 'tested' | 'untested' | 'too old'

/** Returns whether CI runs tests with the major version of a Node, and whether it is too old. */
export function nodeSupport(nodeVersion: string): NodeSupport {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) return 'too old'
  return testedNodes.some((row) => row.major === major) ? 'tested' : 'untested'
}
