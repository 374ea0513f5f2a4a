import { accessTokensArea } from './access-tokens.ts'
import { groupsArea } from './groups.ts'
import { issuesArea } from './issues.ts'
import { labelsArea } from './labels.ts'
import { membersArea } from './members.ts'
import { mergeRequestsArea } from './merge-requests.ts'
import { milestonesArea } from './milestones.ts'
import { pipelinesArea } from './pipelines.ts'
import { projectsArea } from './projects.ts'
import { repositoryArea } from './repository.ts'
import type { Area } from './route.ts'
import { usersArea } from './users.ts'
import { variablesArea } from './variables.ts'
import { versionArea } from './version.ts'

/** Every area of the REST API. If two routes match a request, the first one is used. */
export const areas: readonly Area[] = [
  accessTokensArea,
  usersArea,
  groupsArea,
  projectsArea,
  membersArea,
  labelsArea,
  issuesArea,
  mergeRequestsArea,
  milestonesArea,
  versionArea,
  repositoryArea,
  variablesArea,
  pipelinesArea,
]
