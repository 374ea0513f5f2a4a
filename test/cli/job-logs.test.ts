import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { caseFile, fixtures } from '../fixtures.ts'
import { attributeOf, spansOf } from './json-spans.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Job 640233 of this pipeline failed, job 640232 succeeded. */
const pipeline = caseFile('failed-pipeline-with-skipped-deploy')
const log = (name: string) => join(fixtures, 'job-logs', `${name}.log`)

/** Writes a log of the fixtures with the times of a job that started at `start`. */
async function logAt(directory: Awaited<ReturnType<typeof temporaryDirectory>>, name: string, start: string) {
  const shift = Date.parse(start) / 1_000 - 1_770_091_510
  const text = await readFile(log(name), 'utf8')
  const moved = text.replaceAll(/(section_(?:start|end):)(\d+)/g, (_, marker, at) => `${marker}${Number(at) + shift}`)
  return directory.file(`${name}.log`, moved)
}

test('the sections of a log are steps of its job, and its failing lines an event and a log record', async () => {
  await using directory = await temporaryDirectory()
  const file = await logAt(directory, 'masked-variables', '2026-01-27T14:07:51Z')
  const { exitCode, stdout, stderr } = await penstock(['convert', pipeline, '--job-log', `640233=${file}`])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const spans = spansOf(stdout)
  const job = spans.find((span) => attributeOf(span, 'job.id') === '640233')!
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === job.spanId)
  expect(steps.map(({ name }) => name)).toEqual([
    'step: prepare_executor',
    'step: prepare_script',
    'step: get_sources',
    'step: step_script',
    'step: cleanup_file_variables',
  ])
  expect(attributeOf(steps[2]!, 'svc.cicd.pipeline.step.title')).toBe('Getting source from Git repository')
  const fingerprint = attributeOf(job, 'svc.cicd.pipeline.task.failure.fingerprint')
  expect(fingerprint).toMatch(/^[0-9a-f]{16}$/)
  expect(stdout).toContain('"name":"svc.job.failure"')
  expect(stdout.match(/the server refused the deployment 4711/g)).toHaveLength(2)
  for (const secret of ['hunter2horse', 'canary-secret-5d1e77']) expect(stdout + stderr).not.toContain(secret)
})

test('a job that did not fail has steps, but no failing lines; show draws nested sections', async () => {
  await using directory = await temporaryDirectory()
  const file = await logAt(directory, 'nested-and-collapsed-sections', '2026-01-27T14:04:19Z')
  const { exitCode, stdout } = await penstock(['show', pipeline, '--job-log', `640232=${file}`])
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/step: build_barrel .*\n.*└─ • step: build\.bar/)
  const converted = await penstock(['convert', pipeline, '--job-log', `640232=${file}`])
  expect(converted.stdout).not.toContain('svc.job.failure')
})

test.each([
  ['640233', 'must be ID=FILE'],
  ['=a.log', 'must be ID=FILE'],
  [`1=${log('no-such-log')}`, 'no-such-log.log: no such file or directory'],
  [`1=${fixtures}`, 'illegal operation on a directory'],
])('--job-log %s is refused before anything is converted', async (value, reason) => {
  const { exitCode, stdout, stderr } = await penstock(['convert', pipeline, '--job-log', value])
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain('--job-log')
  expect(stderr).toContain(reason)
})

test('two logs of one job are refused', async () => {
  const file = `640233=${log('failed-pytest')}`
  const { exitCode, stderr } = await penstock(['convert', pipeline, '--job-log', file, '--job-log', file])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('Job 640233 has two logs')
})

test('a log of a job that no pipeline has is reported', async () => {
  const { exitCode, stdout, stderr } = await penstock(['convert', pipeline, '--job-log', `1=${log('failed-pytest')}`])
  expect(exitCode).toBe(1)
  expect(stderr).toContain('--job-log 1: no pipeline')
  expect(spansOf(stdout).length).toBeGreaterThan(1)
})
