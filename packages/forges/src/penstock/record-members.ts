import { knownStatuses } from '../record/status.ts'
import {
  countMember,
  flagMember,
  idMember,
  integerMember,
  type JsonSchema,
  listMember,
  objectMember,
  objectSchema,
  percentMember,
  requiredIdMember,
  requiredObjectMember,
  requiredTextMember,
  secondsMember,
  textMember,
  textsMember,
  timeMember,
  wordMember,
} from './members.ts'

/** The version of the record's format, which is also the member by which it is recognised. */
export const RECORD_VERSION = 1

const status = wordMember(knownStatuses)

const user = {
  id: idMember('The id of the user.'),
  username: textMember('The name of the user, not an e-mail address.'),
}

const step = {
  name: textMember('The name of the step.'),
  status: status('The status of the step.'),
  startedAt: timeMember('The start of the step.'),
  finishedAt: timeMember('The end of the step.'),
}

const runner = {
  id: idMember('The id of the runner.'),
  name: textMember('The name of the runner.'),
  description: textMember('A description of the runner.'),
  group: textMember('The group or pool of the runner.'),
  tags: textsMember('The tags or labels of the runner.'),
  url: textMember('The web page of the runner.'),
}

const environment = {
  name: textMember('The name of the environment.'),
  action: textMember('What the job does with the environment, such as `start`.'),
  tier: textMember('The tier of the environment, such as `production`.'),
  deploymentId: idMember('The id of the deployment that the job makes.'),
  deploymentName: textMember('The name of the deployment that the job makes.'),
}

const group = {
  name: requiredTextMember('The name of the group.'),
  index: countMember('The position of the job in its group, from 1.'),
}

const job = {
  id: requiredIdMember('The id of the job, unique within the run.'),
  name: textMember('The name of the job.'),
  stage: textMember('The stage of the job, if the system has stages.'),
  status: status('The status of the job.'),
  createdAt: timeMember('The creation of the job.'),
  startedAt: timeMember('The start of the job.'),
  finishedAt: timeMember('The end of the job.'),
  durationSeconds: secondsMember('The time that the job ran. Without it, the time from its start to its end.'),
  queuedSeconds: secondsMember('The time that the job waited for a runner.'),
  failureReason: textMember('Why the job failed. `timed_out` and `infrastructure_failure` have results of their own.'),
  allowFailure: flagMember('Whether the run succeeds although this job has failed.'),
  manual: flagMember('Whether a person starts the job.'),
  startsRun: flagMember('Whether the job only starts another run.'),
  url: textMember('The web page of the job.'),
  attempt: countMember('The attempt of the job, 1 for the first.'),
  previousAttemptId: idMember('The id of the attempt before, which is another job of the list.'),
  user: objectMember(user, 'Who started the job.'),
  runner: objectMember(runner, 'The runner, agent or worker of the job.'),
  environment: objectMember(environment, 'The environment that the job deploys to.'),
  group: objectMember(group, 'The group of a parallel or matrix job.'),
  steps: listMember(step, 'The steps of the job in their order.'),
}

const run = {
  id: requiredIdMember('The id of the run, unique on its server. All attempts of a run may share it.'),
  attempt: countMember('The attempt of the run, 1 for the first.'),
  number: integerMember('The number of the run in its project.'),
  name: textMember('The name of the pipeline, workflow or definition.'),
  status: status('The status of the run. It is exported when it is final: success, failed, canceled or skipped.'),
  ref: textMember('The branch or tag.'),
  tag: flagMember('Whether the ref is a tag.'),
  sha: textMember('The commit.'),
  beforeSha: textMember('The commit before.'),
  trigger: textMember('What started the run, such as `push` or `schedule`.'),
  stages: textsMember('The stages in their order, if the system has stages.'),
  createdAt: timeMember('The creation of the run.'),
  startedAt: timeMember('The start of the run, or of this attempt.'),
  updatedAt: timeMember('The last change of the run.'),
  finishedAt: timeMember('The end of the run.'),
  durationSeconds: secondsMember('The time in which jobs ran. Without it, it is computed from the jobs.'),
  queuedSeconds: secondsMember('The time from the creation of the run to its first job.'),
  url: textMember('The web page of the run.'),
  failureReason: textMember('Why the run failed, if no job has a reason.'),
  coverage: percentMember('The coverage in percent.'),
}

const project = {
  id: idMember('The id of the project or repository.'),
  name: textMember('The name of the project.'),
  path: textMember('The path of the project with its owner, such as `team/app`.'),
  url: textMember('The web page of the project. Its host is the server, unless `server` is set.'),
  server: textMember('The server on which ids are unique.'),
}

const change = {
  id: idMember('The id of the change.'),
  number: integerMember('The number of the change in its project.'),
  title: textMember('The title of the change.'),
  state: textMember('The state of the change: `opened`, `merged` or `closed`.'),
  draft: flagMember('Whether the change is a draft.'),
  targetBranch: textMember('The branch that the change is for.'),
}

const commit = {
  id: textMember('The commit.'),
  title: textMember('The first line of its message.'),
  message: textMember('Its message.'),
}

/** The members of a record. The reader and the JSON Schema are made from them. */
export const recordMembers = {
  penstockRecord: countMember(`The version of the format: ${RECORD_VERSION}.`),
  run: requiredObjectMember(run, 'The run, which is one attempt if the system counts attempts.'),
  project: objectMember(project, 'The project or repository.'),
  previousAttempt: objectMember(
    { runId: requiredIdMember('Its run id.'), attempt: countMember('Its attempt.') },
    'The attempt before this one.',
  ),
  parent: objectMember(
    {
      runId: requiredIdMember('The id of the run.'),
      attempt: countMember('The attempt of the run.'),
      jobId: idMember('The job that started this run.'),
      otherProject: flagMember('Whether it belongs to another project; this run then has its own trace with a link.'),
      projectUrl: textMember('The web page of its project.'),
    },
    'The run that started this one.',
  ),
  change: objectMember(change, 'The merge or pull request.'),
  user: objectMember(user, 'Who started the run.'),
  commit: objectMember(commit, 'The commit of the run.'),
  jobs: listMember(job, 'All jobs and their attempts. Without the list, the number of jobs is unknown.'),
}

/** A record, which is an example of the schema. */
export const recordExample = {
  penstockRecord: RECORD_VERSION,
  run: {
    id: 'app-main-417',
    name: 'build',
    status: 'failed',
    ref: 'main',
    sha: '0f3c1b7e9d2a4c5f8e6b0a1d3c5e7f9a2b4d6c8e',
    trigger: 'push',
    createdAt: '2026-02-03T04:05:06Z',
    finishedAt: '2026-02-03T04:06:36Z',
    url: 'https://ci.example.com/app/417',
  },
  project: { id: 12, name: 'app', path: 'team/app', url: 'https://ci.example.com/team/app' },
  jobs: [
    {
      id: 'unit',
      name: 'unit',
      status: 'failed',
      startedAt: '2026-02-03T04:05:10Z',
      finishedAt: '2026-02-03T04:06:30Z',
      runner: { name: 'linux-3', tags: ['linux'] },
      steps: [
        {
          name: 'npm test',
          status: 'failed',
          startedAt: '2026-02-03T04:05:20Z',
          finishedAt: '2026-02-03T04:06:30Z',
        },
      ],
    },
  ],
}

/** Returns the JSON Schema of a record. */
export const recordSchema = (): JsonSchema => {
  const schema = objectSchema(recordMembers)
  const version = { const: RECORD_VERSION, description: 'The version of the format.' }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A finished CI run for Penstock',
    ...schema,
    properties: { ...(schema.properties as object), penstockRecord: version },
    required: ['penstockRecord', 'run'],
    examples: [recordExample],
  }
}
