import type { ProjectView } from '@penstock/core'
import { html } from '@penstock/http'
import { z } from 'zod'
import { type Member, type Members, member } from '../../routing/json-shape.ts'

const of = (schema: z.ZodType, value: Member<ProjectView>['of']) => member<ProjectView>(schema, value)
const nothing = of(z.null(), () => null)
const no = of(z.literal(false), () => false)
const none = of(z.array(z.unknown()), () => [])

/** The members that are the same in every project, for features that this service does not have. */
export const constantProjectMembers: Members<ProjectView> = {
  descriptionHtml: of(z.string(), ({ project }) => html`${project.description ?? ''}`.text),
  sharedWithGroups: none,
  complianceFrameworks: none,
  ciOptInJwt: no,
  importUrl: nothing,
  importType: nothing,
  importStatus: of(z.literal('none'), () => 'none'),
  importError: nothing,
  serviceDeskAddress: nothing,
  runnerTokenExpirationInterval: nothing,
  markedForDeletionAt: nothing,
  markedForDeletionOn: nothing,
  repositoryStorage: of(z.literal('default'), () => 'default'),
  containerRegistryImagePrefix: nothing,
}
