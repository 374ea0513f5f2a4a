import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ManualClock } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'
import { caseFile, fixtures, pipelines } from '../fixtures.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { attributeOf, type JsonSpan, pipelineIdsIn, spansOf } from './json-spans.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const push = caseFile('push-pipeline-five-jobs-three-stages')

describe('input', () => {
  test('one value, an array and NDJSON are converted in the same way', async () => {
    const lines = [hookLine(1), hookLine(2)]
    const alike = await Promise.all(
      [
        `[${lines.join(',\n')}]`,
        JSON.stringify(
          lines.map((line) => JSON.parse(line)),
          null,
          2,
        ),
        ndjson(lines),
        lines.join('\n'),
      ].map((stdin) => penstock(['convert', '-'], { stdin })),
    )
    for (const outcome of alike) {
      expect(outcome.stderr).toBe('')
      expect(outcome).toEqual(alike[0])
    }
    expect(pipelineIdsIn(alike[0]?.stdout ?? '')).toEqual(['1', '2'])
  })

  test('blank lines, CRLF and a byte order mark are ignored', async () => {
    const stdin = `\ufeff\r\n${hookLine(1)}\r\n\r\n  \r\n${hookLine(2)}\r\n`
    const { exitCode, stdout } = await penstock(['convert', '-'], { stdin })
    expect(exitCode).toBe(0)
    expect(pipelineIdsIn(stdout)).toEqual(['1', '2'])
  })

  test('a directory represents its JSON and NDJSON, sorted', async () => {
    await using directory = await temporaryDirectory()
    await directory.file('b.ndjson', ndjson([hookLine(3), hookLine(4)]))
    await directory.file('a.json', hookLine(2))
    await directory.file('c.jsonl', hookLine(5))
    await directory.file('notes.txt', 'none of ours')
    const { exitCode, stdout } = await penstock(['convert', directory.path])
    expect(exitCode).toBe(0)
    expect(pipelineIdsIn(stdout)).toEqual(['2', '3', '4', '5'])
  })

  test('all fixtures in one run', async () => {
    const { exitCode, stdout, stderr } = await penstock(['convert', pipelines, '--received-at', '2026-07-01T00:00:00Z'])
    for (const canary of ['canary-secret-5d1e77', 'CANARY_KEY_81c2', 'canary-mail-90aa', 'canary-avatar-90aa']) {
      expect(stdout + stderr).not.toContain(canary)
    }
    const complaints = stderr
      .split('\n')
      .filter((line) => line !== '' && !/: (?:warning|skipped): | more skipped$/.test(line))
    expect(complaints).toEqual([
      'pipeline 88417: only job hooks came, which add to it; its pipeline hook must follow',
      expect.stringMatching(/^\d+ converted, \d+ skipped, 0 refused$/),
    ])
    expect(exitCode).toBe(0)
  })

  test('a missing file is reported before any file is converted', async () => {
    const { exitCode, stdout, stderr } = await penstock(['convert', push, 'no-such-file.json'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toBe('penstock: no-such-file.json: no such file or directory\n')
  })

  test('standard input is read once', async () => {
    const { exitCode, stderr } = await penstock(['convert', '-', '-'])
    expect(exitCode).toBe(2)
    expect(stderr).toBe('penstock: standard input (-) can be read once only\n')
  })

  test('a directory without records is refused', async () => {
    await using directory = await temporaryDirectory()
    const { exitCode, stderr } = await penstock(['convert', directory.path])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('no *.json, *.ndjson or *.jsonl')
  })

  test('a hundred levels of nesting are ignored', async () => {
    const nested = `${'['.repeat(100)}${']'.repeat(100)}`
    const stdin = hookLine(1).replace('"object_kind"', `"more":${nested},"object_kind"`)
    const { exitCode, stdout } = await penstock(['convert', '-'], { stdin })
    expect(exitCode).toBe(0)
    expect(pipelineIdsIn(stdout)).toEqual(['1'])
  })

  test('a hundred thousand levels too, with a warning', async () => {
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const stdin = hookLine(1).replace('"object_kind"', `"more":${nested},"object_kind"`)
    const { exitCode, stderr } = await penstock(['convert', '-'], { stdin })
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^stdin: line 1: warning: has more than \d+ levels of nesting\n$/)
  })

  test('a document over the limit is refused and read only up to the limit', async () => {
    let read = 0
    function* hundredMegabytes() {
      yield Buffer.from('{\n')
      for (const part = Buffer.alloc(1024 * 1024, ' '); read < 100 * part.length; read += part.length) yield part
      yield Buffer.from('}')
    }
    const { exitCode, stderr } = await penstock(['convert', '-'], {
      stdin: Readable.from(hundredMegabytes(), { objectMode: false }),
    })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^stdin: is longer than 67,108,864 bytes, the limit for one JSON document/)
    expect(read).toBeLessThan(70 * 1024 * 1024)
  })

  test('a file over the limit is not read beyond its first line', async () => {
    await using directory = await temporaryDirectory()
    const file = await directory.file('large.json', `{\n${' '.repeat(2_000_000)}}`)
    const clock = new ManualClock()
    const { exitCode, stderr } = await penstock(['convert', file, '--max-file-bytes', '1000000'], { clock })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`${file}: is longer than 1,000,000 bytes`)
  })

  test('a line over the limit is refused, the others are not', async () => {
    const stdin = ndjson([hookLine(1), hookLine(2, { sha: 'f'.repeat(5_000) }), hookLine(3)])
    const { exitCode, stdout, stderr } = await penstock(['convert', '-', '--max-file-bytes', '2000'], { stdin })
    expect(exitCode).toBe(1)
    expect(pipelineIdsIn(stdout)).toEqual(['1', '3'])
    expect(stderr).toContain('stdin: line 2: is longer than 2,000 bytes')
  })

  test('thousands of lines are in memory one at a time', async () => {
    const count = 5_000
    let produced = 0
    let converted = 0
    let mostAhead = 0
    function* lines() {
      for (; produced < count; produced++) {
        mostAhead = Math.max(mostAhead, produced - converted)
        yield Buffer.from(`${hookLine(produced + 1)}\n`)
      }
    }
    const stdout = new Sink().onWrite(() => {
      converted += 1
    })
    const stdin = Readable.from(lines(), { objectMode: false, highWaterMark: 16 * 1024 })
    const { exitCode } = await penstock(['convert', '-', '--signals', 'metrics'], { stdin, stdout })
    expect({ exitCode, converted }).toEqual({ exitCode: 0, converted: count })
    expect(mostAhead).toBeLessThan(200)
  })
})

describe('records', () => {
  test('unfinished pipelines are skipped with a message', async () => {
    const stdin = ndjson([hookLine(1, { status: 'running' }), hookLine(2)])
    const { exitCode, stdout, stderr } = await penstock(['convert', '-'], { stdin })
    expect(exitCode).toBe(0)
    expect(pipelineIdsIn(stdout)).toEqual(['2'])
    expect(stderr).toBe('stdin: line 1: skipped: pipeline 1: not final (running)\n1 converted, 1 skipped, 0 refused\n')
  })

  test('a pipeline is converted once', async () => {
    const { exitCode, stdout, stderr } = await penstock(['convert', caseFile('e42-identical-redelivery')])
    expect(exitCode).toBe(0)
    expect(pipelineIdsIn(stdout)).toHaveLength(1)
    expect(stderr).toContain('already exported')
  })

  test('a pipeline in several files is converted once', async () => {
    const { stdout } = await penstock(['convert', push, push])
    expect(pipelineIdsIn(stdout)).toEqual(['31'])
  })

  test('with --reexport, a second completion is converted with only the new jobs', async () => {
    const file = caseFile('e41-finishes-again-after-a-retry')
    expect(pipelineIdsIn((await penstock(['convert', file])).stdout)).toHaveLength(1)
    const { stdout } = await penstock(['convert', file, '--reexport', 'replace'])
    const [first, second, ...others] = stdout.split('\n').filter((line) => line.startsWith('{"resourceSpans"'))
    expect(others).toEqual([])
    const [before, after] = [spansOf(first ?? ''), spansOf(second ?? '')]
    expect(after[0]?.spanId).toBe(before[0]?.spanId)
    const ids = (spans: JsonSpan[]) => spans.slice(1).map((span) => attributeOf(span, 'job.id'))
    expect(ids(after).filter((id) => ids(before).includes(id))).toEqual([])
  })

  test('with --reexport, an identical redelivery is skipped', async () => {
    const { stdout } = await penstock(['convert', caseFile('e42-identical-redelivery'), '--reexport', 'replace'])
    expect(pipelineIdsIn(stdout)).toHaveLength(1)
  })

  test('job hooks complete the pipeline that follows them', async () => {
    const { stdout, stderr } = await penstock(['convert', caseFile('job-hook-then-pipeline-hook')])
    expect(stderr).toContain('skipped: job hook, kept for pipeline 88416')
    const attempts = spansOf(stdout).map((span) => attributeOf(span, 'svc.cicd.pipeline.task.run.attempt'))
    expect(attempts.filter((attempt) => attempt !== undefined)).not.toEqual([])
  })

  test('the root is read from an unfinished child', async () => {
    const { stdout } = await penstock(['convert', caseFile('e01-running-child-teaches-its-root')])
    expect(new Set(spansOf(stdout).map((span) => span.traceId)).size).toBe(1)
  })

  test('a cycle is broken, with a warning', async () => {
    const { exitCode, stderr } = await penstock(['convert', caseFile('e47-two-pipelines-each-the-source-of-the-other')])
    expect(exitCode).toBe(0)
    expect(stderr).toContain('warning: source_pipeline: leads back to the pipeline itself')
  })

  test('optional fields of a wrong type cause warnings', async () => {
    const file = caseFile('wrong-typed-optional-fields')
    const { exitCode, stderr } = await penstock(['convert', file])
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(new RegExp(`^${file}: warning: [a-z_.0-9[\\]]+: must be `))
  })

  test('at most twenty warnings per file are printed', async () => {
    const stdin = ndjson(Array.from({ length: 50 }, (_, at) => hookLine(at + 1, { tag: 'yes' })))
    const { stderr } = await penstock(['convert', '-'], { stdin })
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toBe('stdin: … and 30 more warnings')
  })

  test('a record without any time gets the time of reading, or the time of receipt', async () => {
    const file = caseFile('e07-no-time-anywhere')
    const without = await penstock(['convert', file])
    expect(without.exitCode).toBe(0)
    expect(without.stderr).toContain('has no time at all')
    const { exitCode, stdout } = await penstock(['convert', file, '--received-at', '2026-07-01T00:00:00Z'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('"observedTimeUnixNano":"1782864000000000000"')
  })

  test('control characters of an input do not reach the terminal', async () => {
    const stdin = `${hookLine(1).replace('"id":1', '"id":"\\u001b[2J\\u202e"')}\n`
    const { stderr } = await penstock(['convert', '-'], { stdin })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })
})

describe('options', () => {
  const optionsOf = (...flags: string[]) => penstock(['convert', push, '--signals', 'traces', ...flags])

  test('choices, switches and texts are applied', async () => {
    const native = spansOf((await optionsOf('--id-scheme', 'native')).stdout)
    expect(native[0]?.traceId).toBe('0000000000000000000000000000001f')
    const staged = spansOf((await optionsOf('--stage-spans')).stdout)
    expect(staged.map((span) => span.name)).toContain('deploy')
    expect((await optionsOf('--service-name', 'svc-ci')).stdout).toContain(
      '"service.name","value":{"stringValue":"svc-ci"}',
    )
  })

  test('a flag takes precedence over a profile', async () => {
    expect(spansOf((await optionsOf('--profile', 'native')).stdout)[0]?.name).toBe('pipeline: main')
    const mixed = await optionsOf('--profile', 'native', '--span-names', 'semconv')
    expect(spansOf(mixed.stdout)[0]?.name).toBe('RUN tide-tables')
  })

  test('bounds', async () => {
    const { stdout } = await penstock(['convert', push, '--signals', 'metrics', '--bounds', '1,5, 10'])
    expect(stdout).toContain('"explicitBounds":[1,5,10]')
  })

  test('extensions can be left out', async () => {
    const file = caseFile('e12-optional-manual-job-never-played')
    expect((await penstock(['convert', file])).stdout).toContain('svc.cicd.pipeline.task.run.executed')
    expect((await penstock(['convert', file, '--no-extensions'])).stdout).not.toContain(
      'svc.cicd.pipeline.task.run.executed',
    )
  })

  test('names contain the name of the service', async () => {
    const { stdout } = await penstock(['convert', push], { env: { PENSTOCK_SERVICE_NAME: 'gitlab' } })
    expect(stdout).toContain('gitlab.cicd.pipeline.trigger.type')
    expect(stdout).not.toContain('"svc.')
  })

  test.each([
    { flags: ['--frobnicate'], complaint: "unknown option '--frobnicate'" },
    { flags: ['--id-sheme', 'native'], complaint: "unknown option '--id-sheme' (Did you mean --id-scheme?)" },
    {
      flags: ['--id-scheme', 'random'],
      complaint: "option '--id-scheme <choice>' argument 'random' is invalid. Allowed choices are hashed, native.",
    },
    {
      flags: ['--signals', 'traces,spans'],
      complaint: "option '--signals <list>' argument 'traces,spans' is invalid. Signals are traces, metrics, logs.",
    },
    {
      flags: ['--signals', ''],
      complaint: "option '--signals <list>' argument '' is invalid. Signals are traces, metrics, logs.",
    },
    {
      flags: ['--encoding', 'xml'],
      complaint: "option '--encoding <encoding>' argument 'xml' is invalid. Allowed choices are json, protobuf.",
    },
    {
      flags: ['--bounds', '5,1'],
      complaint: "option '--bounds': must be native, fine or up to 200 ascending numbers above 0",
    },
    {
      flags: ['--bounds', '5,,1'],
      complaint:
        "option '--bounds <seconds,…>' argument '5,,1' is invalid. It must be native, fine or numbers separated by commas.",
    },
    { flags: ['--ref-label', '('], complaint: "option '--ref-label': must be all or a regular expression" },
    { flags: ['--service-name', ' '], complaint: "option '--service-name': must be a text that is not blank" },
    {
      flags: ['--received-at', 'yesterday'],
      complaint:
        "option '--received-at <time>' argument 'yesterday' is invalid. It must be a time such as 2026-02-11T09:25:11Z.",
    },
    {
      flags: ['--max-file-bytes', '1e6'],
      complaint:
        "option '--max-file-bytes <bytes>' argument '1e6' is invalid. It must be an integer from 1 to 536870888.",
    },
    {
      flags: ['--metrics-mode', 'windowed'],
      complaint: "option '--metrics-mode <choice>' argument 'windowed' is invalid. Allowed choices are per-run.",
    },
  ])('$flags prints one line and exits with 2', async ({ flags, complaint }) => {
    const { exitCode, stdout, stderr } = await penstock(['convert', push, ...flags])
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: '', stderr: `penstock: ${complaint}\n` })
  })
})

describe('refusals', () => {
  const directory = join(fixtures, 'refused')
  const cases = readdirSync(directory).filter((name) => !name.endsWith('.expected.json'))

  test.each(cases)('%s', async (name) => {
    const file = join(directory, name)
    const stem = name.replace(/\.[^.]+$/, '')
    const expected = JSON.parse(await readFile(join(directory, `${stem}.expected.json`), 'utf8'))
    const { exitCode, stdout, stderr } = await penstock(['convert', file])
    expect(exitCode).toBe(expected.exitCode)
    expect(stderr).not.toBe('')
    expect(stderr).not.toContain('    at ')
    for (const message of expected.messages) expect(stderr).toContain(message)
    expect(pipelineIdsIn(stdout)).toEqual(expected.converted ?? [])
  })
})
