import { MAX_VALUE_BYTES } from '@penstock/converter'
import { boundedText, lineFrom } from './report-values.ts'

export interface StackFrame {
  readonly file: string
  readonly line: number
}

/** The number of lines of a stack trace in which frames are looked for, and their length in UTF-16 code units. */
const MAX_LINES = 400
const MAX_LINE_LENGTH = 512

interface FrameForm {
  readonly language: string
  /** Matches one line. Groups: `file`, `line`, and `scope`, the class and method on the JVM. */
  readonly pattern: RegExp
}

/**
 * The forms of stack frames. A line is read by the first form that matches it. Each pattern takes linear time: its parts cannot
 * match the same characters.
 */
const frameForms: readonly FrameForm[] = [
  { language: 'JVM', pattern: /^\s*at (?:[\w.@-]*\/)*(?<scope>[\w.$]+)\((?<file>[\w$-]+\.\w+):(?<line>\d+)\)$/ },
  { language: '.NET', pattern: /^\s*at .+ in (?<file>\S+):line (?<line>\d+)$/ },
  {
    language: 'JavaScript',
    pattern: /^\s*at (?:[^()]+ \()?(?:async )?(?:file:\/\/)?(?<file>[^()\s][^()]*):(?<line>\d+):\d+\)?$/,
  },
  { language: 'vitest', pattern: /^\s*❯ (?:\S+ )?(?<file>\S+):(?<line>\d+):\d+$/ },
  { language: 'Python', pattern: /^\s*File "(?<file>[^"]+)", line (?<line>\d+)/ },
  { language: 'Rust', pattern: /(?:^|\s)(?<file>[\w./\\-]+\.rs):(?<line>\d+):\d+/ },
  {
    language: 'pytest, Go, Ruby, PHP, C and others',
    pattern:
      /^\s*(?:# )?(?<file>(?:[A-Za-z]:)?[^\s:"'<>()]+\.(?:py|go|rb|php|c|cc|cpp|cxx|h|hpp|m|mm|swift|dart|exs?|pl|lua|sh|[cm]?[jt]sx?)):(?<line>\d+)(?::|$)/,
  },
]

/** Files of runtimes and of installed packages. */
const dependencies: readonly RegExp[] = [
  /(?:^|[\\/])(?:node_modules|site-packages|dist-packages|\.cargo|\.rustup|gems|vendor)[\\/]/,
  /^(?:node:|internal\/|<|\/rustc\/|\/usr\/local\/go\/)/,
  /[\\/]lib[\\/](?:python|ruby)[\d.]*[\\/]/,
  /[\\/]go[\\/]pkg[\\/]mod[\\/]/,
]
/** Classes of runtimes and test frameworks on the JVM. */
const dependencyClasses =
  /^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|groovy|org\.(?:junit|opentest4j|testng|hamcrest|mockito|assertj|gradle|apache\.maven|codehaus\.groovy|spockframework))\./

/**
 * Returns the first stack frame outside dependencies; `undefined` if the text has none.
 *
 * @param file if it is given, only frames of this file are returned
 */
export function firstFrame(stacktrace: string | undefined, file: string | undefined): StackFrame | undefined {
  for (const text of stacktrace?.split('\n', MAX_LINES) ?? []) {
    if (text.length > MAX_LINE_LENGTH) continue
    const frame = frameOn(text.trimEnd())
    if (frame !== undefined && (file === undefined || isSameFile(frame.file, file))) return frame
  }
  return undefined
}

function frameOn(text: string): StackFrame | undefined {
  for (const { pattern } of frameForms) {
    const groups = pattern.exec(text)?.groups
    if (groups === undefined) continue
    const file = boundedText(pathOf(groups), MAX_VALUE_BYTES)
    const line = lineFrom(groups.line, 1)
    const isDependency =
      dependencyClasses.test(groups.scope ?? '') || dependencies.some((dependency) => dependency.test(groups.file!))
    return file === undefined || line === undefined || isDependency ? undefined : { file, line }
  }
  return undefined
}

/** Returns the path of a file. A frame of the JVM has only its name, which is put into the directory of the package. */
function pathOf({ file, scope }: Record<string, string>): string {
  if (scope === undefined) return file!
  const packages = scope.split('.').slice(0, -2)
  return [...packages, file].join('/')
}

/** Returns whether one path ends with the other, so that `test/a.js` and `/builds/shop/test/a.js` are the same file. */
function isSameFile(a: string, b: string): boolean {
  const [short, long] = [a, b]
    .map((path) => path.replaceAll('\\', '/').replace(/^\.\//, ''))
    .sort((x, y) => x.length - y.length)
  return long === short || long!.endsWith(`/${short}`)
}
