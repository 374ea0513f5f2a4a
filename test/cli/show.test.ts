import { describe, expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'
import { bodiesOf, caseFile } from '../fixtures.ts'
import { hookLine, ndjson } from './hook-line.ts'

test('draws the samples on eighty columns without colours', async () => {
  const { exitCode, stdout, stderr } = await penstock(['show', '--sample'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  await expect(stdout).toMatchFileSnapshot('sample-waterfall.txt')
})

const legendOf = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter((line) => / {3}|^[✓✗⊘»!○•░┆] [a-z ,]+$/.test(line) && /^[✓✗⊘»!○•░┆] [a-z ,]+(?: {3}|$)/.test(line))
    .flatMap((line) => line.split('   '))

describe('the legend lists only the marks that were drawn', () => {
  test.each([
    { name: 'native-ids-root-100-child-123', legend: ['✓ passed', '░ waiting for a runner'] },
    { name: 'push-pipeline-five-jobs-three-stages', legend: ['✓ passed'] },
    {
      name: 'canceled-pipeline',
      legend: ['⊘ canceled', '✓ passed', '» skipped', '░ waiting for a runner', '┆ did not run'],
    },
    { name: 'e54-only-an-allowed-failure', legend: ['✓ passed', '! failed, allowed', '░ waiting for a runner'] },
  ])('$name', async ({ name, legend }) => {
    const { stdout } = await penstock(['show', caseFile(name)])
    expect(legendOf(stdout)).toEqual(legend)
    for (const sign of ['✓', '✗', '⊘', '»', '!', '○', '•', '░', '┆']) {
      const drawn = stdout
        .split('\n')
        .some((line) => /[█▐▌▏▕▎▍▋▊▉│├└┆]/.test(line) && new RegExp(`(?:^|[ │├└─])${sign}`).test(line))
      expect({ sign, drawn }).toEqual({ sign, drawn: legend.some((entry) => entry.startsWith(sign)) })
    }
  })

  test('stages have their own sign', async () => {
    const { stdout } = await penstock(['show', caseFile('push-pipeline-five-jobs-three-stages'), '--stage-spans'])
    expect(legendOf(stdout)).toEqual(['✓ passed', '• other', '░ waiting for a runner'])
  })
})

describe('attempts of a job', () => {
  test('are numbered, and shown together in their order', async () => {
    const { stdout } = await penstock(['show', caseFile('e40-rest-three-attempts-of-one-job')])
    expect(stdout.match(/^[├└]─ (.*?) {2}/gm)).toEqual([
      '├─ ✓ compile  ',
      '├─ ✗ unit #1 runner_system_failu…  ',
      '├─ ✗ unit #2 script_failure  ',
      '└─ ✓ unit #3  ',
    ])
  })

  test('are shown together even if other jobs started in between and one attempt never ran', async () => {
    const job = (id: number, name: string, status: string, minute: number) => ({
      id,
      name,
      stage: 'test',
      status,
      created_at: '2026-02-11 09:20:14 UTC',
      started_at: status === 'canceled' ? null : `2026-02-11 09:2${minute}:00 UTC`,
      finished_at: `2026-02-11 09:2${minute}:30 UTC`,
    })
    const hook = JSON.parse(hookLine(1, { finished_at: '2026-02-11 09:25:00 UTC' }))
    hook.builds = [
      job(11, 'lint', 'failed', 1),
      job(12, 'unit', 'success', 2),
      job(13, 'lint', 'canceled', 3),
      job(14, 'lint', 'success', 4),
    ]
    const { stdout } = await penstock(['show', '-'], { stdin: JSON.stringify(hook) })
    expect(stdout.match(/(?<=^[├└]─ . )\w+(?: #\d)?/gm)).toEqual(['lint #1', 'lint #2', 'lint #3', 'unit'])
  })

  test('have the number from job hooks if earlier attempts are missing', async () => {
    const { stdout } = await penstock(['show', caseFile('job-hook-then-pipeline-hook')])
    expect(stdout).toMatch(/^└─ ✓ simulate #\d /m)
  })

  test('keep their number if there is too little room', async () => {
    const stdout = new Sink({ isTTY: true, columns: 60 })
    const hook = JSON.parse(hookLine(1))
    const [job] = hook.builds
    const name = 'a name that does not fit on sixty columns'
    hook.builds = [1, 2].map((id) => ({ ...job, id, name, status: id === 1 ? 'failed' : 'success' }))
    await penstock(['show', '-'], { stdout, stdin: JSON.stringify(hook), env: { NO_COLOR: '1' } })
    expect(stdout.text).toMatch(/a name that .*… #1 /)
    expect(stdout.text).toMatch(/a name that .*… #2 /)
  })
})

describe('above the waterfall', () => {
  const headerOf = (stdout: string) => stdout.slice(0, stdout.search(/^ +0s/m)).trimEnd().split('\n')

  test('are the failed jobs, then start, commit, merge request and URL', async () => {
    const { stdout } = await penstock(['show', caseFile('failed-pipeline-with-skipped-deploy')])
    expect(headerOf(stdout)).toEqual([
      'trace    5a0904696d74f9e481eb66f3e5c02bc1',
      'failed   simulate (test): script_failure',
      'started  2026-01-27 14:03:52 UTC by tlindqvist on fix/overshoot',
      expect.stringMatching(/^commit {3}[0-9a-f]{8} \S/),
      expect.stringMatching(/^url {6}https:.*88412$/),
    ])
  })

  test('is the merge request', async () => {
    const { stdout } = await penstock(['show', caseFile('merge-request-pipeline')])
    expect(headerOf(stdout)).toContainEqual('request  !168 Search glazes by cone and atmosphere (open)')
  })

  test('attempts that were retried successfully and jobs that may fail are not listed as failures', async () => {
    for (const name of ['e40-rest-three-attempts-of-one-job', 'e54-only-an-allowed-failure']) {
      const { stdout } = await penstock(['show', caseFile(name)])
      expect(headerOf(stdout).filter((line) => line.startsWith('failed'))).toEqual([])
    }
  })

  test('is the reason of a pipeline that failed without a failed job', async () => {
    const { stdout } = await penstock(['show', caseFile('e55-rest-yaml-errors')])
    expect(headerOf(stdout)).toContainEqual('failed   the pipeline: config_error')
  })

  test('are at most five failed jobs and the number of the others', async () => {
    const hook = JSON.parse(hookLine(1, { status: 'failed' }))
    const [job] = hook.builds
    hook.builds = Array.from({ length: 9 }, (_, at) => ({ ...job, id: at + 1, name: `job ${at}`, status: 'failed' }))
    const { stdout } = await penstock(['show', '-'], { stdin: JSON.stringify(hook) })
    expect(headerOf(stdout).slice(1, 7)).toEqual([
      'failed   job 0 (build)',
      '         job 1 (build)',
      '         job 2 (build)',
      '         job 3 (build)',
      '         job 4 (build)',
      '         … and 4 more jobs',
    ])
  })

  test('lines are cut to sixty columns, except the URL', async () => {
    const stdout = new Sink({ isTTY: true, columns: 60 })
    await penstock(['show', '--sample'], { stdout, env: { NO_COLOR: '1' } })
    const lines = stdout.text.split('\n').filter((line) => !line.startsWith('url'))
    expect(Math.max(...lines.map((line) => line.length))).toBe(60)
    expect(stdout.text).toMatch(/^url {6}https:\S+\d$/m)
  })

  test('are no values that the options leave out', async () => {
    const file = caseFile('merge-request-pipeline')
    const { stdout } = await penstock(['show', file, '--user', 'omit', '--commit-message', 'omit'])
    expect(headerOf(stdout)).toContainEqual(expect.stringMatching(/^started {2}\S+ \S+ UTC on \S+$/))
    expect(headerOf(stdout)).toContainEqual(expect.stringMatching(/^commit {3}[0-9a-f]{8}$/))
  })
})

describe('a message that the pipeline hook must follow is printed for job hooks', () => {
  const remark = 'pipeline 88417: only job hooks came, which add to it; its pipeline hook must follow\n'

  test('without a pipeline hook', async () => {
    const file = caseFile('job-hook-alone')
    const { exitCode, stderr } = await penstock(['show', file])
    expect(exitCode).toBe(0)
    expect(stderr).toBe(`${file}: skipped: job hook, kept for pipeline 88417\n${remark}`)
  })

  test('but not if the pipeline hook is in the input, before or after them', async () => {
    const [job, , , pipeline] = bodiesOf('job-hook-then-pipeline-hook')
    for (const bodies of [
      [job, pipeline],
      [pipeline, job],
    ]) {
      const { stderr } = await penstock(['show', '-'], { stdin: JSON.stringify(bodies) })
      expect(stderr).not.toContain('must follow')
    }
  })

  test('for at most twenty pipelines, with the number of the others', async () => {
    const jobHook = { ...(bodiesOf('job-hook-alone')[0] as object) }
    const stdin = ndjson(Array.from({ length: 25 }, (_, at) => JSON.stringify({ ...jobHook, pipeline_id: at + 1 })))
    const { stderr } = await penstock(['show', '-'], { stdin })
    expect(stderr.match(/must follow/g)).toHaveLength(20)
    expect(stderr).toContain('… and 5 more pipelines of which only job hooks came\n')
  })
})

test('lines fit the width of the terminal', async () => {
  for (const columns of [60, 80, 133, 250]) {
    const stdout = new Sink({ isTTY: true, columns })
    await penstock(['show', '--sample'], { stdout, env: { NO_COLOR: '1' } })
    const bars = stdout.text.split('\n').filter((line) => /^[✓✗⊘├└│]/.test(line))
    expect(Math.max(...bars.map((line) => line.length))).toBe(columns)
  }
})

test('colours are used on terminals unless NO_COLOR is set', async () => {
  const colored = new Sink({ isTTY: true })
  await penstock(['show', '--sample'], { stdout: colored })
  expect(colored.text).toContain('\u001b[32m✓\u001b[0m')
  const plain = new Sink({ isTTY: true })
  await penstock(['show', '--sample'], { stdout: plain, env: { NO_COLOR: '1' } })
  expect(plain.text).not.toContain('\u001b')
})

test('a child pipeline is shown below its bridge', async () => {
  const { stdout } = await penstock([
    'show',
    caseFile('child-pipeline-of-a-bridge'),
    caseFile('parent-pipeline-with-bridges'),
  ])
  expect(stdout.match(/^trace /gm)).toHaveLength(1)
  const lines = stdout.split('\n')
  const bridge = lines.findIndex((line) => line.includes('kessel-nord'))
  expect(lines[bridge + 1]).toMatch(/^│ {2}└─ ✓ RUN /)
})

test('a child without its parent is a separate tree', async () => {
  const { stdout } = await penstock(['show', caseFile('child-pipeline-of-a-bridge')])
  expect(stdout).toMatch(/^✓ RUN /m)
})

test('the options of the conversion are applied', async () => {
  const { stdout } = await penstock(['show', caseFile('push-pipeline-five-jobs-three-stages'), '--stage-spans'])
  expect(stdout).toMatch(/^├─ • build/m)
  expect(stdout).toMatch(/^│ {2}└─ ✓ compile/m)
})

test('names in all scripts keep the columns aligned', async () => {
  const { stdout } = await penstock(['show', caseFile('e30-emoji-right-to-left-combining-and-four-byte-names')])
  expect(stdout).toContain('試験')
})

test('control characters do not reach the terminal', async () => {
  const stdin = hookLine(1).replace('"compile"', '"\\u001b[31mred\\u0007\\u202ebidi"')
  const { stdout } = await penstock(['show', '-'], { stdin })
  expect(stdout).toContain('�[31mred��bidi')
})

test('many pipelines are counted, the first of them drawn', async () => {
  const stdin = ndjson(Array.from({ length: 250 }, (_, at) => hookLine(at + 1)))
  const { stdout } = await penstock(['show', '-'], { stdin })
  expect(stdout.match(/^trace /gm)).toHaveLength(200)
  expect(stdout).toContain('… and 50 more pipelines')
  expect(stdout).toMatch(/^traces +500 spans/m)
})

test('many jobs are cut off with a message', async () => {
  const hook = JSON.parse(hookLine(1))
  const [job] = hook.builds
  hook.builds = Array.from({ length: 1_000 }, (_, at) => ({ ...job, id: at + 1, name: `job ${at}` }))
  const { stdout } = await penstock(['show', '-'], { stdin: JSON.stringify(hook) })
  expect(stdout).toContain('… and 801 more spans')
})

test('an input without pipelines prints nothing', async () => {
  const { exitCode, stdout, stderr } = await penstock(['show', '-'], { stdin: hookLine(1, { status: 'running' }) })
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^traces +0 spans/m)
  expect(stderr).toContain('skipped: pipeline 1: not final (running)')
})

test.each([
  { args: ['show'], complaint: 'no file was named; name a file, or use --sample' },
  { args: ['show', '--sample', 'x.json'], complaint: '--sample takes no files' },
])('$args', async ({ args, complaint }) => {
  expect(await penstock(args)).toMatchObject({ exitCode: 2, stdout: '', stderr: `penstock: ${complaint}\n` })
})

test('missing samples are reported', async () => {
  const { exitCode, stderr } = await penstock(['show', '--sample'], { samplesDirectory: '/no/such/place' })
  expect(exitCode).toBe(2)
  expect(stderr).toBe('penstock: the samples are only in a source checkout; there is no directory /no/such/place\n')
})
