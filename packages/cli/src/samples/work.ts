import {
  type Actor,
  addContextCommits,
  type Core,
  createIssue,
  createMergeRequest,
  createProjectSnippet,
  getCommit,
  getProjectIssue,
  getProjectMergeRequest,
  groupWikis,
  listContextCommits,
  listProjectSnippets,
  perform,
  projectAccessRequests,
  projectLabels,
  projectMembers,
  type WikiPage,
} from '@penstock/core'
import { REQUESTER, SHOWN_PROJECT, WIKI_GROUP } from './company.ts'
import { findOrCreate } from './find-or-create.ts'
import { phoneMap } from './runs.ts'

const LABEL = 'small screens'

/**
 * Creates a label, an issue, a merge request with a context commit, for a branch that has pipelines, an access request,
 * a snippet and wiki pages. The branch must already exist.
 */
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
  await addContextCommit(core, developer)
  await requestAccess(core, actors)
  await addSnippet(core, developer)
  await addWikiPages(core, planner)
}

/** Adds a snippet that everyone can read, with a page and a script. */
async function addSnippet(core: Core, developer: Actor): Promise<void> {
  const there = { project: SHOWN_PROJECT }
  if ((await perform(core, developer, listProjectSnippets, there)).items.length > 0) return
  await perform(core, developer, createProjectSnippet, {
    ...there,
    title: 'Warm up the map tiles',
    description: 'Run it after a deployment, before the first visitors come.',
    visibility: 'public',
    files: [
      { filePath: 'README.md', content: '# Map tiles\n\nTakes about **two minutes**.\n' },
      {
        filePath: 'bin/warm-up.sh',
        content: '#!/bin/sh\nfor zoom in 10 11 12; do curl -sSf "$TILES/$zoom" > /dev/null; done\n',
      },
    ],
  })
}

/** Adds the newest commit of the target branch to the merge request as context. */
async function addContextCommit(core: Core, developer: Actor): Promise<void> {
  const one = { project: SHOWN_PROJECT, mergeRequestIid: phoneMap.iid }
  if ((await perform(core, developer, listContextCommits, one)).items.length > 0) return
  const { sha } = await perform(core, developer, getCommit, { project: SHOWN_PROJECT, sha: 'main' })
  await perform(core, developer, addContextCommits, { ...one, commits: [sha] })
}

/** Requests a role in the shown project for the user who has Minimal access only. */
async function requestAccess(core: Core, actors: ReadonlyMap<string, NonNullable<Actor>>): Promise<void> {
  const requester = actors.get(REQUESTER)
  const there = { parent: SHOWN_PROJECT }
  // The request may have been approved.
  const members = await perform(core, requester, projectMembers.listAll, { ...there, userIds: [requester!.id] })
  const requests = await perform(core, requester, projectAccessRequests.list, there)
  if (members.items.length > 0 || requests.items.length > 0) return
  await perform(core, requester, projectAccessRequests.create, there)
}

/** The pages of the wiki, by title. */
const pages = {
  home: '# Shop\n\nStart with [how we test](guides/testing).',
  'guides/testing': `# How we test\n\nEach change of the map needs a test on a phone: ${SHOWN_PROJECT}#1.`,
}

async function addWikiPages(core: Core, author: Actor): Promise<void> {
  for (const [title, content] of Object.entries(pages))
    await findOrCreate<WikiPage>(
      () => perform(core, author, groupWikis.get, { parent: WIKI_GROUP, slug: title }),
      () => perform(core, author, groupWikis.create, { parent: WIKI_GROUP, title, content }),
    )
}
