/** A line that begins the output of a failure. */
interface ErrorMarker {
  readonly tools: string
  /** An example, for the documentation. */
  readonly example: string
  readonly pattern: RegExp
}

/** The lines by which tools report failures. The failing lines of a job begin before the first of them. */
export const errorMarkers: readonly ErrorMarker[] = [
  {
    tools: 'compilers, linters, npm, pip, Docker, Terraform, and most other tools',
    example: 'error: …',
    pattern: /^(?:.{0,400}[\s:([>])?(?:fatal |npm |internal )?(?:errors?|fatal)(?:\[\w+\]| \w{1,8}\d+)?\s?[:!]/i,
  },
  { tools: 'Maven, sbt, log4j', example: '[ERROR] …', pattern: /^\[?(?:ERROR|FATAL|SEVERE)\b/ },
  { tools: 'apt', example: 'E: Unable to locate package …', pattern: /^E: \S/ },
  { tools: 'npm', example: 'npm ERR! …', pattern: /^npm (?:ERR!|error )/ },
  { tools: 'GitHub Actions', example: '##[error]…', pattern: /^(?:##\[error\]|::error\b)/ },
  {
    tools: 'Python',
    example: 'Traceback (most recent call last):',
    pattern: /^\s*Traceback \(most recent call last\)/,
  },
  { tools: 'pytest', example: 'E   AssertionError', pattern: /^E {3}\S|^=+ (?:FAILURES|ERRORS) =+$/ },
  { tools: 'Go, pytest, jest, PHPUnit', example: 'FAIL …, --- FAIL: …', pattern: /^\s*(?:--- )?FAIL(?:ED|URES!)?\b/ },
  { tools: 'TAP', example: 'not ok 3', pattern: /^\s*not ok \d/ },
  { tools: 'jest, vitest, mocha', example: '✕, ✗, ×, ● …', pattern: /^\s*[✕✖✗✘×●]\s/ },
  { tools: 'RSpec, minitest', example: 'Failures:', pattern: /^\s*(?:Failures?|Failed examples):\s*$/ },
  { tools: 'Gradle, Ant', example: 'BUILD FAILED', pattern: /^(?:BUILD FAILED|FAILURE: )/ },
  {
    tools: 'Java, .NET',
    example: 'Exception in thread …',
    pattern: /^(?:Exception in thread|Unhandled exception|Caused by:)/i,
  },
  {
    tools: 'exceptions',
    example: 'TypeError: …',
    pattern: /^\s*(?:Uncaught )?[\w.$]{0,120}(?:Error|Exception)\b(?:\s\[\w+\])?:/,
  },
  {
    tools: 'Go, Rust',
    example: "panic: …, thread 'main' panicked",
    pattern: /^(?:panic: |thread '.{0,80}' (?:\(\d+\) )?panicked)/,
  },
  { tools: 'make, ninja', example: 'make: *** …', pattern: /^(?:g?make(?:\[\d+\])?: \*\*\*|ninja: build stopped)/ },
  { tools: 'linkers', example: 'undefined reference to …', pattern: /undefined reference to / },
  {
    tools: 'shells',
    example: 'command not found, No such file or directory, Permission denied',
    pattern: /(?:: (?:command )?not found|: No such file or directory|: Permission denied)$/i,
  },
  {
    tools: 'the system',
    example: 'Segmentation fault, Killed',
    pattern: /\b(?:Segmentation fault|Out of memory|core dumped)\b|^Killed\b/i,
  },
]

/** The last message of a runner after a command failed. It does not say why. */
const runnerMessage = /^(?:ERROR: Job failed: exit (?:code|status) \d|##\[error\]Process completed with exit code)/

/** Returns whether a line begins the output of a failure. */
export const isErrorMarker = (line: string): boolean =>
  !runnerMessage.test(line) && errorMarkers.some(({ pattern }) => pattern.test(line))

/** Returns whether a line is the message with which a runner ends a job with a failed command. */
export const isRunnerMessage = (line: string): boolean => runnerMessage.test(line)
