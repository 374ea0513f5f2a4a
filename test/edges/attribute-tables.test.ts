import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { attribute, attributes, convertBody, convertFixture, hookOf, keysOf, resourceOf } from './exported-run.ts'

const sha = '3dffc13c960842b937fc4f5f4c56e3e5aced3fcb'
const message =
  'Interpolate missing readings at slack water\n\nThe northern gauge drops out for up to twelve minutes.\n'

test('an export has one resource and one scope, with the product version and the schema of the conventions', () => {
  const { resources } = convertFixture('push-pipeline-five-jobs-three-stages').conversion.traces
  expect(resources).toHaveLength(1)
  expect(resources[0]!.schemaUrl).toBe('https://opentelemetry.io/schemas/1.45.0')
  const [scope, ...others] = resources[0]!.scopes
  expect(others).toEqual([])
  expect(scope!.schemaUrl).toBe('https://opentelemetry.io/schemas/1.45.0')
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
  expect(scope!.scope).toMatchObject({ name: 'svc-ci-pipeline', version })
})

test('the resource has every attribute of its table, in order', () => {
  const resource = resourceOf(convertFixture('push-pipeline-five-jobs-three-stages'))
  expect(Object.entries(resource)).toEqual([
    ['service.name', 'tide-tables'],
    ['service.version', '1.0.0'],
    ['deployment.environment', 'production'],
    ['deployment.environment.name', 'production'],
    ['vcs.provider.name', 'svc'],
    ['vcs.repository.name', 'tide-tables'],
    ['svc.vcs.repository.id', '42'],
    ['vcs.repository.url.full', 'https://ci.example.com/harbour/tide-tables'],
    ['vcs.owner.name', 'harbour'],
  ])
})

test('a pipeline span has every attribute of its table, in order', () => {
  const { pipeline } = convertFixture('push-pipeline-five-jobs-three-stages')
  expect(Object.entries(attributes(pipeline))).toEqual([
    ['pipeline.id', 31n],
    ['cicd.pipeline.run.id', '31'],
    ['pipeline.iid', 18n],
    ['cicd.pipeline.name', 'tide-tables'],
    ['pipeline.ref', 'main'],
    ['vcs.ref.head.name', 'main'],
    ['pipeline.tag', false],
    ['vcs.ref.head.type', 'branch'],
    ['pipeline.sha', sha],
    ['vcs.ref.head.revision', sha],
    ['pipeline.before_sha', '6dcdc15a5c4295290cf7bb8a2cd287aad39f5462'],
    ['vcs.ref.base.revision', '6dcdc15a5c4295290cf7bb8a2cd287aad39f5462'],
    ['pipeline.status', 'success'],
    ['cicd.pipeline.result', 'success'],
    ['pipeline.detailed_status', 'passed'],
    ['pipeline.duration', 282],
    ['svc.cicd.pipeline.run.duration', 282],
    ['pipeline.queued_duration', 3],
    ['svc.cicd.pipeline.run.queued_duration', 3],
    ['pipeline.protected_ref', true],
    ['svc.vcs.ref.head.protected', true],
    ['pipeline.url', 'https://ci.example.com/harbour/tide-tables/-/pipelines/31'],
    ['cicd.pipeline.run.url.full', 'https://ci.example.com/harbour/tide-tables/-/pipelines/31'],
    ['pipeline.stages', ['build', 'test', 'deploy']],
    ['svc.cicd.pipeline.stages', ['build', 'test', 'deploy']],
    ['svc.cicd.pipeline.trigger.type', 'push'],
    ['pipeline.user.id', 5n],
    ['svc.cicd.pipeline.user.id', 5n],
    ['pipeline.user.username', 'iokafor'],
    ['svc.cicd.pipeline.user.username', 'iokafor'],
    ['pipeline.commit.id', sha],
    ['pipeline.commit.message', message],
    ['svc.vcs.ref.head.revision.message', message],
  ])
})

test('a merge request adds its attributes to the pipeline span', () => {
  const { pipeline } = convertFixture('merge-request-pipeline')
  expect(attributes(pipeline)).toMatchObject({
    'pipeline.merge_request.id': 40217n,
    'pipeline.merge_request.iid': 168n,
    'vcs.change.id': '168',
    'vcs.change.title': 'Search glazes by cone and atmosphere',
    'vcs.change.state': 'open',
    'vcs.ref.base.name': 'main',
    'vcs.ref.base.type': 'branch',
    'vcs.ref.head.type': 'branch',
  })
})

test('a pipeline with a name of its own is called by it', () => {
  const { pipeline } = convertFixture('pipeline-with-workflow-name')
  expect(attributes(pipeline)).toMatchObject({
    'pipeline.name': 'Tables for the winter season',
    'cicd.pipeline.name': 'Tables for the winter season',
  })
  expect(pipeline.name).toBe('RUN Tables for the winter season')
})

test('a job span has every attribute of its table, in order', () => {
  const { jobs } = convertFixture('job-with-every-optional-field')
  expect(Object.entries(attributes(jobs['wave-1']!))).toEqual([
    ['job.id', 12_650_331_891n],
    ['cicd.pipeline.task.run.id', '12650331891'],
    ['job.name', 'wave-1'],
    ['cicd.pipeline.task.name', 'wave-1'],
    ['job.stage', 'deploy'],
    ['cicd.pipeline.task.type', 'deploy'],
    ['job.status', 'failed'],
    ['cicd.pipeline.task.run.result', 'failure'],
    [
      'cicd.pipeline.task.run.url.full',
      'https://gitlab.example.net/stellwerk-labs/delivery/depot-deployer/-/jobs/12650331891',
    ],
    ['job.duration', 118.000312],
    ['svc.cicd.pipeline.task.run.duration', 118.000312],
    ['job.queued_duration', 2.869],
    ['svc.cicd.pipeline.task.run.queued_duration', 2.869],
    ['job.manual', true],
    ['job.allow_failure', true],
    ['svc.cicd.pipeline.task.allow_failure', true],
    ['job.failure_reason', 'api_failure'],
    ['svc.cicd.pipeline.task.run.failure_reason', 'api_failure'],
    ['job.created_at', 1_770_801_614_368_000_000n],
    ['svc.cicd.pipeline.task.run.created_at', 1_770_801_614_368_000_000n],
    ['job.when', 'manual'],
    ['svc.cicd.pipeline.task.run.when', 'manual'],
    ['svc.cicd.pipeline.task.trigger.type', 'push'],
    ['job.user.id', 208n],
    ['svc.cicd.pipeline.task.user.id', 208n],
    ['job.user.username', 'noor_alamin'],
    ['svc.cicd.pipeline.task.user.username', 'noor_alamin'],
    ['job.artifacts.filename', 'rollout.zip'],
    ['svc.cicd.pipeline.task.artifacts.filename', 'rollout.zip'],
    ['job.artifacts.size', 311n],
    ['svc.cicd.pipeline.task.artifacts.size', 311n],
    ['job.runner.id', 33n],
    ['cicd.worker.id', '33'],
    ['job.runner.description', 'deploy-dmz'],
    ['cicd.worker.name', 'deploy-dmz'],
    ['job.runner.tags', ['deploy', 'protected']],
    ['svc.cicd.worker.tags', ['deploy', 'protected']],
    ['job.runner.type', 'group_type'],
    ['svc.cicd.worker.type', 'group_type'],
    ['job.runner.active', true],
    ['cicd.worker.state', 'available'],
    ['job.runner.is_shared', false],
    ['svc.cicd.runner.is_shared', false],
    ['job.environment.name', 'prod/eu-1'],
    ['svc.cicd.pipeline.task.environment.name', 'prod/eu-1'],
    ['job.environment.action', 'start'],
    ['svc.cicd.pipeline.task.environment.action', 'start'],
    ['job.environment.deployment_tier', 'production'],
    ['svc.cicd.pipeline.task.environment.deployment_tier', 'production'],
    ['error.type', 'api_failure'],
  ])
})

test('a job with only id, name, stage and status has no other attributes', () => {
  const { jobs } = convertFixture('job-with-no-optional-field')
  expect(attributes(jobs.unit!)).toEqual({
    'job.id': 640253n,
    'cicd.pipeline.task.run.id': '640253',
    'job.name': 'unit',
    'cicd.pipeline.task.name': 'unit',
    'job.stage': 'test',
    'cicd.pipeline.task.type': 'test',
    'job.status': 'success',
    'cicd.pipeline.task.run.result': 'success',
    'cicd.pipeline.task.run.url.full': 'https://git.example.com/ceramics/firmware/kiln-controller/-/jobs/640253',
    'job.allow_failure': false,
    'svc.cicd.pipeline.task.allow_failure': false,
    'svc.cicd.pipeline.task.trigger.type': 'push',
    'svc.cicd.timestamps.adjusted': true,
  })
})

test('a REST job has no attributes about manual jobs, because REST does not report them', () => {
  const { jobs } = convertFixture('rest-bundle-push-pipeline')
  const keys = keysOf(jobs.compile!)
  expect(keys).not.toContain('job.manual')
  expect(keys).not.toContain('job.when')
  expect(attribute(jobs.compile!, 'job.artifacts.filename')).toBe('compile.zip')
})

test('a bridge is marked as such in both attribute families', () => {
  const { jobs } = convertFixture('parent-pipeline-with-bridges')
  expect(attributes(jobs['kessel-nord']!)).toMatchObject({
    'job.type': 'bridge',
    'svc.cicd.pipeline.task.kind': 'bridge',
  })
  expect(keysOf(jobs.image!)).not.toContain('job.type')
})

test.each([
  ['pending', 'pending'],
  ['waiting_for_resource', 'pending'],
  ['preparing', 'pending'],
  ['waiting_for_callback', 'pending'],
  ['running', 'executing'],
  ['canceling', 'executing'],
  ['created', undefined],
  ['manual', undefined],
  ['scheduled', undefined],
  ['success', undefined],
])('the run state of a job with status %s is %s', (status, state) => {
  const hook = hookOf('push-pipeline-five-jobs-three-stages')
  hook.builds[0]!.status = status
  expect(attribute(convertBody(hook).jobs.unit!, 'cicd.pipeline.task.run.state')).toBe(state)
})
