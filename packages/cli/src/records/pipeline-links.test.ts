import { type ConvertOptionsInput, resolveOptions } from '@penstock/converter'
import { type PipelineRecord, readInput } from '@penstock/forges'
import { expect, test } from 'vitest'
import { PipelineLinks } from './pipeline-links.ts'

const run = { status: 'success', created_at: '2026-01-05T10:00:00Z' }
const project = { id: 42, web_url: 'https://ci.example.com/g/p' }

function recordOf(id: number, more: object = {}): PipelineRecord {
  const body = { project, pipeline: { ...run, id }, jobs: [], ...more }
  const input = readInput(body, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return input.record
}

/** Returns a bridge, as in a REST API, that has started the pipeline `id`. */
const bridge = (bridgeId: number, id: number, more: object = {}) => ({
  id: bridgeId,
  status: 'success',
  downstream_pipeline: { id, project_id: 42, web_url: `https://ci.example.com/g/p/-/pipelines/${id}`, ...more },
})

function linksOf(records: readonly PipelineRecord[], options: ConvertOptionsInput = {}, capacity = 100): PipelineLinks {
  const links = new PipelineLinks(resolveOptions(options), capacity)
  for (const record of records) links.learnRecord(record)
  return links
}

test('a bridge names the pipeline that it has started', () => {
  const links = linksOf([recordOf(32), recordOf(31, { bridges: [bridge(900, 32)] })])
  expect(links.completed(recordOf(32)).upstream).toMatchObject({
    pipelineId: 31n,
    bridgeId: 900n,
    otherProject: false,
    bridgeListed: true,
  })
  expect(Object.fromEntries(links.roots())).toEqual({ 'ci.example.com 31': 31n, 'ci.example.com 32': 31n })
})

test('the upstream pipeline of a record takes precedence; a missing bridge is added', () => {
  const links = linksOf([recordOf(31, { bridges: [bridge(900, 32)] })])
  const upstreamFor = (source: object) => links.completed(recordOf(32, { source_pipeline: source })).upstream
  expect(upstreamFor({ pipeline_id: 31 })).toMatchObject({ pipelineId: 31n, bridgeId: 900n })
  expect(upstreamFor({ pipeline_id: 31, job_id: 901 })).toMatchObject({ bridgeId: 901n, bridgeListed: false })
  expect(upstreamFor({ pipeline_id: 30 })).toMatchObject({ pipelineId: 30n, bridgeId: undefined })
})

test('a parent that has not finished may list the bridge later', () => {
  const running = recordOf(31, { pipeline: { ...run, id: 31, status: 'running' } })
  const child = recordOf(32, { source_pipeline: { pipeline_id: 31, job_id: 900 } })
  expect(linksOf([running]).completed(child).upstream).not.toHaveProperty('bridgeListed')
  expect(linksOf([running, recordOf(31)]).completed(child).upstream).toMatchObject({ bridgeListed: false })
})

test('a pipeline in another project is linked, not in the same tree', () => {
  const elsewhere = bridge(900, 32, { project_id: 7, web_url: 'https://ci.example.com/g/q/-/pipelines/32' })
  const started = { project: { id: 7, web_url: 'https://ci.example.com/g/q' } }
  const links = linksOf([recordOf(31, { bridges: [elsewhere] }), recordOf(32, started)])
  expect(links.completed(recordOf(32, started)).upstream).toMatchObject({ otherProject: true, bridgeId: 900n })
  expect(Object.fromEntries(links.roots())).toEqual({ 'ci.example.com 31': 31n, 'ci.example.com 32': 32n })
})

test('a pipeline in another project without any URL is found by the id of its project', () => {
  const elsewhere = { id: 900, status: 'success', downstream_pipeline: { id: 32, project_id: 7 } }
  const parent = recordOf(31, { project: { id: 42 }, bridges: [elsewhere] })
  const links = linksOf([parent])
  expect(links.completed(recordOf(32, { project: { id: 7 } })).upstream).toMatchObject({ pipelineId: 31n })
  expect(links.completed(recordOf(32, { project: { id: 8 } })).upstream).toBeUndefined()
})

test('a bridge that names its own pipeline is ignored', () => {
  const links = linksOf([recordOf(31, { bridges: [bridge(900, 31)] })])
  expect(links.completed(recordOf(31)).upstream).toBeUndefined()
  expect(Object.fromEntries(links.roots())).toEqual({ 'ci.example.com 31': 31n })
})

test('above the capacity, the least recently mentioned pipelines are evicted', () => {
  const records = Array.from({ length: 20 }, (_, index) => recordOf(index + 1))
  expect([...linksOf(records, {}, 5).roots()]).toHaveLength(5)
})
