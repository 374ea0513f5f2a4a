import {
  type Actor,
  type Core,
  createIssue,
  createMergeRequest,
  getProjectIssue,
  getProjectMergeRequest,
  perform,
  projectLabels,
} from '@penstock/core'
import { SHOWN_PROJECT } from './company.ts'
import { findOrCreate } from './find-or-create.ts'
import { phoneMap } from './runs.ts'

const LABEL = 'small screens'

/** Creates a label, an issue, and a merge request for a branch that has pipelines. The branch must already exist. */
export async function addWork(core: Core, actors: ReadonlyMap<string, NonNullable<Actor>>): Promise<void> {
  const [planner, developer] = [actors.get('bram'), actors.get('priya')]
  const project = SHOWN_PROJECT
  await findOrCreate(
    () => perform(core, planner, projectLabels.get, { parent: project, labelId: LABEL }),
    () => perform(core, planner, projectLabels.create, { parent: project, name: LABEL, color: '#7a4fa3' }),
  )
  await findOrCreate(
    () => perform(core, planner, getProjectIssue, { project, issueIid: 1 }),
    () =>
      perform(core, planner, createIssue, {
        project,
        title: 'The map hides the list on a phone',
        description: 'Below 400 pixels nothing else is to be seen.',
        labels: [LABEL],
        assigneeIds: [developer!.id],
      }),
  )
  await findOrCreate(
    () => perform(core, developer, getProjectMergeRequest, { project, mergeRequestIid: phoneMap.iid }),
    () =>
      perform(core, developer, createMergeRequest, {
        ...{ project, title: phoneMap.title, sourceBranch: phoneMap.branch, targetBranch: 'main' },
        ...{ labels: [LABEL], assigneeIds: [developer!.id] },
      }),
  )
}
