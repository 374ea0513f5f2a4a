import { actionsConclusions } from '../forges/dist/actions/status-words.js'
import { azureStatuses } from '../forges/dist/azure/status-words.js'
import { bitbucketStatuses } from '../forges/dist/bitbucket/status-words.js'
import { buildkiteStatuses } from '../forges/dist/buildkite/status-words.js'
import { outcomes } from '../forges/dist/cdevents/event.js'
import { circleciStatuses } from '../forges/dist/circleci/status-words.js'
import { droneStatuses } from '../forges/dist/drone/status-words.js'
import { forgejoStatuses } from '../forges/dist/forgejo/status-words.js'
import { jenkinsStatuses } from '../forges/dist/jenkins/status-words.js'
import { woodpeckerStatuses } from '../forges/dist/woodpecker/status-words.js'

const statuses = {
  'GitHub, Gitea': actionsConclusions,
  Forgejo: forgejoStatuses,
  CircleCI: circleciStatuses,
  Buildkite: buildkiteStatuses,
  'Azure Pipelines': azureStatuses,
  Bitbucket: bitbucketStatuses,
  Woodpecker: woodpeckerStatuses,
  Drone: droneStatuses,
  Jenkins: jenkinsStatuses,
  CDEvents: outcomes,
}

/** Returns the rows of a table: each forge, its words, and the status that they are read as. */
export const forgeStatusRows = () =>
  Object.entries(statuses).flatMap(([forge, statusByWord]) =>
    [...new Set(Object.values(statusByWord))].map((status) => [forge, words(statusByWord, status), `\`${status}\``]),
  )

const words = (statusByWord, status) =>
  Object.keys(statusByWord)
    .filter((word) => statusByWord[word] === status)
    .map((word) => `\`${word}\``)
    .join(', ')
