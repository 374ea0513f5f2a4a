import { expect, test } from 'vitest'
import { penstock, Sink } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'
import { hookLine, ndjson } from './hook-line.ts'

test('the samples, on eighty columns without colours', async () => {
  const { exitCode, stdout, stderr } = await penstock(['show', '--sample'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  await expect(stdout).toMatchFileSnapshot('sample-waterfall.txt')
})

test('the width of the terminal is kept', async () => {
  for (const columns of [60, 80, 133, 250]) {
    const stdout = new Sink({ isTTY: true, columns })
    await penstock(['show', '--sample'], { stdout, env: { NO_COLOR: '1' } })
    const bars = stdout.text.split('\n').filter((line) => /^[✓✗⊘├└│]/.test(line))
    expect(Math.max(...bars.map((line) => line.length))).toBe(columns)
  }
})

test('colours are for terminals, unless NO_COLOR says no', async () => {
  const colored = new Sink({ isTTY: true })
  await penstock(['show', '--sample'], { stdout: colored })
  expect(colored.text).toContain('\u001b[32m✓\u001b[0m')
  const plain = new Sink({ isTTY: true })
  await penstock(['show', '--sample'], { stdout: plain, env: { NO_COLOR: '1' } })
  expect(plain.text).not.toContain('\u001b')
})

test('a child pipeline stands below its bridge', async () => {
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

test('a child without its parent is a tree of its own', async () => {
  const { stdout } = await penstock(['show', caseFile('child-pipeline-of-a-bridge')])
  expect(stdout).toMatch(/^✓ RUN /m)
})

test('options of the conversion count here too', async () => {
  const { stdout } = await penstock(['show', caseFile('push-pipeline-five-jobs-three-stages'), '--stage-spans'])
  expect(stdout).toMatch(/^├─ · build/m)
  expect(stdout).toMatch(/^│ {2}└─ ✓ compile/m)
})

test('names of all scripts keep the columns', async () => {
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

test('many jobs are cut off, with a word', async () => {
  const hook = JSON.parse(hookLine(1))
  const [job] = hook.builds
  hook.builds = Array.from({ length: 1_000 }, (_, at) => ({ ...job, id: at + 1, name: `job ${at}` }))
  const { stdout } = await penstock(['show', '-'], { stdin: JSON.stringify(hook) })
  expect(stdout).toContain('… and 801 more spans')
})

test('nothing to show is shown as nothing', async () => {
  const { exitCode, stdout, stderr } = await penstock(['show', '-'], { stdin: hookLine(1, { status: 'running' }) })
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^traces +0 spans/m)
  expect(stderr).toContain('skipped: pipeline 1: not final (running)')
})

test.each([
  { args: ['show'], complaint: 'what is to be shown? Name a file, or try --sample' },
  { args: ['show', '--sample', 'x.json'], complaint: '--sample takes no files' },
])('$args', async ({ args, complaint }) => {
  expect(await penstock(args)).toMatchObject({ exitCode: 2, stdout: '', stderr: `penstock: ${complaint}\n` })
})

test('samples that are not there', async () => {
  const { exitCode, stderr } = await penstock(['show', '--sample'], { samplesDirectory: '/no/such/place' })
  expect(exitCode).toBe(2)
  expect(stderr).toBe('penstock: the samples come with the source and are not there: /no/such/place\n')
})
