import { accessRequestsArea } from './areas/access-requests.ts'
import { accessTokensArea } from './areas/access-tokens.ts'
import { applicationsArea } from './areas/applications.ts'
import { awardEmojiArea } from './areas/award-emoji.ts'
import { broadcastMessagesArea } from './areas/broadcast-messages.ts'
import { commitsArea } from './areas/commits.ts'
import { contextCommitsArea } from './areas/context-commits.ts'
import { deployTokensArea } from './areas/deploy-tokens.ts'
import { deploymentsArea } from './areas/deployments.ts'
import { emailsArea } from './areas/emails.ts'
import { environmentsArea } from './areas/environments.ts'
import { featureFlagsArea } from './areas/feature-flags.ts'
import { geoNodesArea } from './areas/geo-nodes.ts'
import { groupsArea } from './areas/groups.ts'
import { hooksArea } from './areas/hooks.ts'
import { issuesArea } from './areas/issues.ts'
import { labelsArea } from './areas/labels.ts'
import { membersArea } from './areas/members.ts'
import { mergeRequestApprovalsArea } from './areas/merge-request-approvals.ts'
import { mergeRequestDiffsArea } from './areas/merge-request-diffs.ts'
import { mergeRequestsArea } from './areas/merge-requests.ts'
import { milestonesArea } from './areas/milestones.ts'
import { namespacesArea } from './areas/namespaces.ts'
import { notesArea } from './areas/notes.ts'
import { notificationSettingsArea } from './areas/notification-settings.ts'
import { pipelineChangesArea } from './areas/pipeline-changes.ts'
import { pipelinesArea } from './areas/pipelines.ts'
import { projectsArea } from './areas/projects.ts'
import { releasesArea } from './areas/releases.ts'
import { repositoryArea } from './areas/repository.ts'
import { settingsArea } from './areas/settings.ts'
import { snippetsArea } from './areas/snippets.ts'
import { usersArea } from './areas/users.ts'
import { variablesArea } from './areas/variables.ts'
import { versionArea } from './areas/version.ts'
import { wikisArea } from './areas/wikis.ts'
import type { Area } from './routing/route.ts'

/** Every area of the REST API. If two routes match a request, the first one is used. */
export const areas: readonly Area[] = [
  accessTokensArea,
  usersArea,
  emailsArea,
  groupsArea,
  namespacesArea,
  projectsArea,
  membersArea,
  accessRequestsArea,
  labelsArea,
  issuesArea,
  mergeRequestsArea,
  mergeRequestApprovalsArea,
  mergeRequestDiffsArea,
  contextCommitsArea,
  milestonesArea,
  versionArea,
  commitsArea,
  repositoryArea,
  variablesArea,
  pipelinesArea,
  settingsArea,
  applicationsArea,
  broadcastMessagesArea,
  wikisArea,
  pipelineChangesArea,
  snippetsArea,
  notesArea,
  awardEmojiArea,
  releasesArea,
  hooksArea,
  deployTokensArea,
  environmentsArea,
  deploymentsArea,
  featureFlagsArea,
  geoNodesArea,
  notificationSettingsArea,
]
